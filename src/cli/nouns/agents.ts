/** `cachefleet agents`: caches, their contents, and the questions and commands that their agents accept. */
import { agent as resource } from '../../resources/agent.js'
import { drain } from '../../resources/draining.js'
import { fieldFlags } from '../field-flags.js'
import type { Invocation, Noun, Verb } from '../verb.js'
import { toFields, toNounParts } from '../resource-noun.js'
import {
  deleteVerb,
  filterFlag,
  forceFlags,
  getVerb,
  listVerb,
  updateVerb,
} from '../object-verbs.js'
import { ofOneCache, statsVerb } from '../stats-verb.js'

export const agent = toNounParts(resource, {
  exampleObject: 'edge-1',
  summary: 'caches with their agents: state, what they hold, reading commands',
  example: 'agents list --filter stateName=Down',
})

const drainFields = toFields(drain)

export const agents: Noun = {
  ...agent,
  verbs: [
    listVerb(agent, '--filter tags.name=web'),
    getVerb(agent),
    updateVerb(agent, '--tags web,eu', {
      flags: forceFlags('also when a deployed group falls below its min by this'),
    }),
    deleteVerb(agent, 'also while a group is placed on it'),
    ask('vcls', 'VCLs and labels that the cache holds'),
    ask('params', "the cache's parameters"),
    ask('backends', 'backends with their health'),
    ask('bans', 'bans that the cache still has to apply'),
    statsVerb(agent, { ...ofOneCache, words: ['agents', 'stats'] }),
    ask('panic', "the last panic of the cache's child"),
    {
      name: 'set-param',
      summary: 'sets a parameter of the cache and keeps it set',
      arguments: ['<id|name>', '<name>', '[value]'],
      flags: [{ form: '--reset', summary: 'back to its default, without a value' }],
      example: 'agents set-param edge-1 default_ttl 60',
      run: async (invocation) => (await import('../agent-settings.js')).setParam(invocation, agent),
    },
    {
      name: 'set-backend',
      summary: 'sets the health of a backend, in all VCLs or of <group id>.<backend>, and keeps it',
      arguments: ['<id|name>', '<backend>', '<healthy|sick|auto>'],
      example: 'agents set-backend edge-1 default sick',
      run: async (invocation) =>
        (await import('../agent-settings.js')).setBackend(invocation, agent),
    },
    {
      name: 'command',
      summary: 'sends one of the allowed commands to the cache',
      arguments: ['<id|name>', '<text...>'],
      example: 'agents command edge-1 -- vcl.list',
      run: async (invocation) =>
        (await import('../agent-questions.js')).sendCommand(invocation, agent),
    },
    {
      name: 'drain',
      summary: 'empties a cache before maintenance: its groups move to others that fit',
      arguments: ['<id|name>'],
      flags: [
        ...fieldFlags(drainFields, 'add'),
        { form: '--wait <time>', summary: 'how long to wait, 0 to 600 s, like 60s (the default)' },
      ],
      example: "agents drain edge-1 --reason 'kernel update' --until 2h",
      run: async (invocation) =>
        (await import('../drain-agent.js')).drainAgent(invocation, agent, drainFields),
    },
    {
      name: 'undrain',
      summary: 'ends a drain: the cache gets groups again',
      arguments: ['<id|name>'],
      example: 'agents undrain edge-1',
      run: async (invocation) =>
        (await import('../drain-agent.js')).undrainAgent(invocation, agent),
    },
    {
      name: 'replace',
      summary: 'gives the place of a lost host to a new one, whose own agent is forgotten',
      arguments: ['<id|name>'],
      flags: [
        { form: '--by <agent>', summary: 'the running agent of the new host, without groups' },
      ],
      example: 'agents replace edge-1 --by edge-9',
      run: async (invocation) =>
        (await import('../drain-agent.js')).replaceAgent(invocation, agent),
    },
    {
      name: 'unlock',
      summary: 'unlocks locked agents: they follow this coordinator from now on',
      arguments: ['[id|name...]'],
      flags: [
        { form: '--all', summary: 'every locked agent, in place of names' },
        { ...filterFlag, summary: 'with --all: of these only, as list filters' },
        {
          form: '--plan',
          summary: 'shows what it would change on their caches, and changes nothing',
        },
      ],
      example: 'agents unlock --all --filter tags.name=eu --plan',
      run: async (invocation) =>
        (await import('../unlock-agents.js')).unlockAgents(invocation, agent),
    },
  ],
}

function ask(question: string, summary: string): Verb {
  return {
    name: question,
    summary,
    arguments: ['<id|name>'],
    example: `agents ${question} edge-1`,
    run: async (invocation: Invocation) =>
      (await import('../agent-questions.js')).askAgent(invocation, agent, question),
  }
}
