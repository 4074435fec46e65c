/** `cachefleet vclgroups`: what is deployed, and deploying it. */
import { yesFlag } from '../confirm.js'
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
import type { Flag, Noun, NounParts } from '../verb.js'
import { deployment } from './deployments.js'
import { file } from './files.js'

const group = {
  name: 'vclgroups',
  aliases: ['vg', 'vclgroup'],
  singular: 'vclgroup',
  path: '/vclgroups',
  nameField: 'name',
  summary: 'what is deployed: a main VCL, its includes, and where it goes',
  example: 'vclgroups deploy site --wait 60s',
  columns: [
    { field: 'id' },
    { field: 'name' },
    { field: 'stateName', title: 'state' },
    { field: 'deployed' },
    { field: 'revision' },
    { field: 'mainVCL', title: 'main VCL' },
    { field: 'deployments' },
  ],
  fields: [
    { name: 'name', type: { kind: 'text' }, summary: 'unique in the organization' },
    {
      name: 'mainVCL',
      type: { kind: 'reference', of: file },
      summary: 'file by id or name, its newest version at each deploy',
    },
    {
      name: 'includes',
      type: { kind: 'references', of: file },
      summary: 'files that the main VCL includes, by id or name',
      clearable: true,
    },
    {
      name: 'deployments',
      type: { kind: 'references', of: deployment },
      summary: 'where it goes, by id or name',
      clearable: true,
    },
    { name: 'root', type: { kind: 'boolean' }, summary: 'its VCL is the whole VCL of each cache' },
    {
      name: 'keepOnFailure',
      type: { kind: 'boolean' },
      summary: 'an agent whose cache refuses a deploy keeps the old VCL; true unless given',
    },
  ],
} satisfies NounParts

const waitFlags: readonly Flag[] = [
  { form: '--wait <time>', summary: 'how long to wait, 0 to 600 s, like 60s (the default)' },
  {
    form: '--percent <share>',
    summary: 'done when this share of the placed agents has it, 0 to 100 (the default)',
  },
  { form: '--detach', summary: 'do not wait; done once the wish is accepted' },
]

export const vclGroups: Noun = {
  ...group,
  verbs: [
    listVerb(group, '--filter deployed=true'),
    getVerb(group),
    addVerb(group, '--name site --main-vcl main.vcl --deployments web'),
    updateVerb(group, '--includes a.vcl,b.vcl'),
    deleteVerb(group),
    {
      name: 'deploy',
      summary: 'puts the group on its caches: all load it, then all switch to it',
      arguments: ['<id>'],
      flags: waitFlags,
      example: 'vclgroups deploy site --wait 60s --percent 90',
      run: async (invocation) => (await import('../deploy.js')).deployGroup(invocation, group),
    },
    {
      name: 'undeploy',
      summary: 'takes the group from all its caches',
      arguments: ['<id>'],
      flags: [...waitFlags, yesFlag],
      example: 'vclgroups undeploy site --yes',
      run: async (invocation) => (await import('../deploy.js')).undeployGroup(invocation, group),
    },
    {
      name: 'validate',
      summary: 'checks the placement and compiles on one fitting agent, changing nothing',
      arguments: ['<id>'],
      example: 'vclgroups validate site',
      run: async (invocation) => (await import('../deploy.js')).validateGroup(invocation, group),
    },
    {
      name: 'state',
      summary: 'shows the state of a group',
      arguments: ['<id>'],
      example: 'vclgroups state site',
      run: async (invocation) => (await import('../group-views.js')).showState(invocation, group),
    },
    {
      name: 'placement',
      summary: 'shows which agents are chosen for a group, which are not, and why',
      arguments: ['<id>'],
      example: 'vclgroups placement site',
      run: async (invocation) =>
        (await import('../group-views.js')).showPlacement(invocation, group),
    },
    {
      name: 'history',
      summary: 'shows what happened to a group, newest first',
      arguments: ['<id>'],
      example: 'vclgroups history site',
      run: async (invocation) => (await import('../group-views.js')).showHistory(invocation, group),
    },
  ],
}
