/** Invalidations: bans and purges, and their progress on each agent. */
import { id, integer, named, organization, reference, references } from './common-fields.js'
import { text, textOrNull, texts, time, timeOrNull, times } from './common-fields.js'
import { problems } from './problem.js'
import type { Answer, Fields, Resource } from './resource.js'

export const invalidationStates = {
  Running: 1,
  Completed: 2,
  Failed: 3,
  Retrying: 4,
  Waiting: 5,
  Cancelled: 6,
} as const

/** In lists and in the response to a create: entries for more agents have no results there. */
export const maxListedResults = 100

const target = {
  kind: 'object',
  computed: true,
  description: 'As they were called when it was created',
  fields: {
    vclGroup: { ...reference, optional: true },
    domains: {
      kind: 'list',
      of: { kind: 'object', fields: { id: named.id, fqdn: text } },
      optional: true,
    },
    tags: { ...references, optional: true },
    agents: { ...references, optional: true },
    all: { kind: 'flag', optional: true },
  },
} as const

const results = {
  kind: 'list',
  computed: true,
  description: `One for each agent; in lists, and when it is created, only of entries for at most ${maxListedResults}`,
  of: {
    kind: 'object',
    fields: {
      agent: reference,
      state: { kind: 'words', of: ['pending', 'done', 'failed', 'expired', 'cancelled'] },
      error: {
        ...textOrNull,
        description:
          'Why it failed or is tried again; unconfirmed: the cache answered, its counters were not seen',
      },
      at: timeOrNull,
    },
  },
} as const

const fields = {
  id,
  organization,
  type: { kind: 'words', of: ['ban', 'purge'] },
  expressions: { ...texts, computed: true },
  urls: { ...texts, computed: true },
  method: { ...textOrNull, computed: true },
  headers: { kind: 'record', nullable: true, computed: true },
  target,
  ttl: { ...integer, column: 'ttlSeconds', description: 'Seconds' },
  state: {
    kind: 'words',
    of: Object.values(invalidationStates),
    computed: true,
    description:
      '1 Running, 2 Completed, 3 Failed, 4 Retrying, 5 Waiting (for agents that are away), 6 Cancelled',
  },
  stateName: { ...text, computed: true, title: 'state' },
  problems,
  done: { ...integer, computed: true },
  total: { ...integer, computed: true },
  warnings: { ...texts, computed: true, description: 'What the ban does not say by itself' },
  account: text,
  ...times,
  expires: { ...time, column: 'expiresAt' },
  finished: { ...timeOrNull, column: 'finishedAt' },
} as const satisfies Fields

export const listedInvalidation = { ...fields, results: { ...results, optional: true } } as const

export const invalidation = {
  noun: 'invalidation',
  permission: 'invalidation',
  event: 'invalidation',
  path: '/invalidations',
  nameField: null,
  columns: [
    'id',
    'created',
    'type',
    'stateName',
    'done',
    'total',
    'expressions',
    'urls',
    'account',
  ],
  fields: { ...fields, results },
} as const satisfies Resource

export type Invalidation = Answer<typeof invalidation.fields>
export type ListedInvalidation = Answer<typeof listedInvalidation>
export type InvalidationTarget = Invalidation['target']
export type InvalidationResult = Invalidation['results'][number]

export const invalidationPreview = {
  total: { ...integer, minimum: 0, description: 'Agents of the target' },
  reached: {
    ...integer,
    minimum: 0,
    description: 'Agents of the total that would have something to do',
  },
  away: { ...integer, minimum: 0, description: 'Of the reached: they would do it later' },
  warnings: fields.warnings,
} as const satisfies Fields

export type InvalidationPreview = Answer<typeof invalidationPreview>
