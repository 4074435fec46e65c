/** Agents: one for each managed cache. */
import { agentStates } from './agent-state.js'
import { id, integerOrNull, organization, text, textOrNull, texts } from './common-fields.js'
import { time, timeOrNull, times } from './common-fields.js'
import { problems } from './problem.js'
import { draining } from './draining.js'
import type { Answer, Fields, Resource } from './resource.js'
import { borneTag, tag } from './tag.js'

const revision = { kind: 'object', fields: { revision: integerOrNull } } as const

const difference = {
  kind: 'object',
  nullable: true,
  description:
    'Of one agent alone: what an unlock would change on its cache. Null in lists, and when it is not locked or its agent has not yet reported what the cache holds',
  fields: {
    use: { ...textOrNull, description: 'The VCL that becomes active; null: none other' },
    load: texts,
    labels: { kind: 'list', of: { kind: 'object', fields: { label: text, program: text } } },
    discard: { ...texts, description: 'Their sources are saved on the host' },
    params: {
      kind: 'list',
      of: {
        kind: 'object',
        fields: { name: text, value: { ...textOrNull, description: 'null: default' } },
      },
    },
    backends: { kind: 'list', of: { kind: 'object', fields: { name: text, health: text } } },
    omitted: { kind: 'integer', description: 'Entries beyond 100 a list' },
  },
} as const

const attempt = {
  revision: integerOrNull,
  result: { ...textOrNull, description: 'applied, failed or refused' },
  error: textOrNull,
  at: timeOrNull,
} as const

const drift = {
  kind: 'object',
  nullable: true,
  computed: true,
  description: 'The last change from outside that was undone',
  fields: { at: time, foreign: texts, action: text, healedAt: timeOrNull },
} as const

const adoption = {
  kind: 'object',
  nullable: true,
  computed: true,
  description: 'What became of the VCL that the cache ran when the agent came',
  fields: {
    at: time,
    result: { kind: 'words', of: ['adopted', 'refused'] },
    error: { ...textOrNull, description: 'Why it was refused, or is not in the --adopt-group' },
    group: { kind: 'reference', nullable: true },
    difference: {
      ...textOrNull,
      description:
        'Of one agent alone: what it adopted against the --adopt-group, as unified text of at most 64 KiB',
    },
  },
} as const

const fields = {
  id,
  name: text,
  organization,
  state: {
    kind: 'words',
    of: Object.values(agentStates),
    description: '1 Running, 2 Failing (agent up, cache not), 3 Down, 4 ReadOnly, 5 Locked',
  },
  stateName: { ...text, title: 'state', computed: true },
  lockedBecause: textOrNull,
  engineState: {
    ...textOrNull,
    title: 'cache',
    computed: true,
    description: 'running, stopped, unreachable or unknown; null: Down',
  },
  lastEngineState: {
    ...textOrNull,
    computed: true,
    description: 'Of a Down agent: the engineState that it reported last',
  },
  engineError: textOrNull,
  engineHost: text,
  enginePort: { kind: 'integer' },
  engineProduct: {
    ...text,
    title: 'product',
    description:
      '`varnish` or `vinyl`, or the name that another make tells; empty until its cache was reached',
  },
  engineVersion: { ...text, title: 'version' },
  agentVersion: text,
  tags: {
    kind: 'references',
    to: tag,
    fields: borneTag,
    computed: true,
    write: {
      on: 'update',
      nullable: true,
      summary: 'replaces the assigned tags, by id or name; static ones stay',
    },
  },
  config: {
    kind: 'object',
    computed: true,
    fields: {
      desired: revision,
      lastAttempted: { kind: 'object', fields: attempt },
      effective: revision,
      difference,
    },
  },
  capabilities: {
    ...texts,
    computed: true,
    description:
      'What the agent may be asked to do: report, deploy, command, invalidate, tls, log, health, tests',
  },
  drift,
  adoption,
  draining,
  problems,
  lastHeartbeat: { ...time, column: 'lastHeartbeatAt', title: 'last heartbeat' },
  lastStateChange: { ...time, column: 'lastStateChangeAt' },
  ...times,
} as const satisfies Fields

export const agent = {
  noun: 'agent',
  permission: 'agent',
  event: 'agent',
  path: '/agents',
  nameField: 'name',
  columns: [
    'id',
    'name',
    'stateName',
    'engineState',
    'engineProduct',
    'engineVersion',
    'tags',
    'lastHeartbeat',
  ],
  fields,
} as const satisfies Resource

export type Agent = Answer<typeof agent.fields>

/** What an unlock would change on the agent's cache. */
export type UnlockDifference = NonNullable<Agent['config']['difference']>
