/** `cachefleet deployments`. */
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
import type { Noun, NounParts } from '../verb.js'
import { tag } from './tags.js'

export const deployment = {
  name: 'deployments',
  aliases: ['dep', 'deployment'],
  singular: 'deployment',
  path: '/deployments',
  nameField: 'name',
  summary: 'which agents groups are placed on: by tags, at least min, at most max',
  example: 'deployments add --name web --tags web --min 1 --max 3',
  columns: [
    { field: 'id' },
    { field: 'name' },
    { field: 'stateName', title: 'state' },
    { field: 'min' },
    { field: 'max' },
    { field: 'tags' },
    { field: 'agents' },
  ],
  fields: [
    { name: 'name', type: { kind: 'text' }, summary: 'unique in the organization' },
    {
      name: 'tags',
      type: { kind: 'references', of: tag },
      summary: 'an agent fits when it has all of these, by id or name',
    },
    {
      name: 'min',
      type: { kind: 'integer' },
      summary: 'agents that there must be; 1 unless given',
      clearable: true,
    },
    {
      name: 'max',
      type: { kind: 'integer' },
      summary: 'agents that there may be; 1 unless given',
      clearable: true,
    },
  ],
} satisfies NounParts

export const deployments: Noun = {
  ...deployment,
  verbs: [
    listVerb(deployment, '--filter stateName=Error'),
    getVerb(deployment),
    addVerb(deployment, '--name web --tags web --max 3'),
    updateVerb(deployment, '--max 5', 'also when a deployed group falls below its min by this'),
    deleteVerb(deployment),
  ],
}
