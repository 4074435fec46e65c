/** `cachefleet ban` and `cachefleet purge`. */
import { fieldFlags } from './field-flags.js'
import { agent } from './nouns/agents.js'
import { domain } from './nouns/domains.js'
import { tag } from './nouns/tags.js'
import { group } from './nouns/vclgroups.js'
import { word, type Field, type Flag, type Verb } from './verb.js'

const targets: readonly Field[] = [
  {
    name: 'vclGroup',
    type: { kind: 'reference', of: group },
    summary: 'the objects of this group, by id or name',
  },
  {
    name: 'domains',
    type: { kind: 'references', of: domain },
    summary: 'the objects of the groups that have these domains',
  },
  {
    name: 'tags',
    type: { kind: 'references', of: tag },
    summary: 'on agents with all of these tags',
  },
  { name: 'agents', type: { kind: 'references', of: agent }, summary: 'on these agents' },
]

const ttl: Field = {
  name: 'ttl',
  type: { kind: 'integer' },
  summary: 'how long to keep trying offline agents, in seconds; 24 h unless given',
}

const method: Field = {
  name: 'method',
  type: { kind: 'text' },
  summary: 'PURGE unless given',
}

const commonFlags: readonly Flag[] = [
  ...withoutData(fieldFlags(targets, 'add')),
  { form: '--all', summary: 'on every agent that you may see' },
  { form: '--wait <time>', summary: 'how long to wait for the end; 60s unless given' },
  { form: '--detach', summary: 'do not wait: exit once it is on disk' },
  {
    form: '--plan',
    summary: 'show how many agents it would reach, and its warnings; send nothing',
  },
]

export const invalidationVerbs: readonly Verb[] = [
  {
    name: 'ban',
    summary: 'removes what an expression matches from caches',
    arguments: ['<expression...>'],
    flags: [
      ...commonFlags,
      { form: '--yes', summary: 'do not ask, as is done on a terminal, before all objects go' },
      ...withoutData(fieldFlags([ttl], 'add')),
    ],
    example: "ban 'obj.http.x-url ~ ^/img/' --vcl-group shop",
    run: async (invocation) => {
      const { sendInvalidation } = await import('./invalidate.js')
      const { words } = invocation
      const expressions =
        words.length === 1 ? { expression: word(invocation, 0) } : { expressions: words }
      return sendInvalidation(
        invocation,
        { type: 'ban', ...expressions },
        { targets, others: [ttl] },
      )
    },
  },
  {
    name: 'purge',
    summary: 'removes what is stored under URLs from caches',
    arguments: ['<url...>'],
    flags: [
      ...commonFlags,
      ...withoutData(fieldFlags([ttl, method], 'add')),
      { form: '--header <line>', summary: "'Name: value' to send along", repeatable: true },
    ],
    example: 'purge https://shop.example.com/img/logo.png --all',
    run: async (invocation) => {
      const { sendInvalidation } = await import('./invalidate.js')
      const { words: urls } = invocation
      return sendInvalidation(
        invocation,
        { type: 'purge', urls },
        { targets, others: [ttl, method] },
      )
    },
  },
]

/** These verbs do not accept a whole request body. */
function withoutData(flags: readonly Flag[]): readonly Flag[] {
  return flags.filter(({ form }) => !form.startsWith('--data'))
}
