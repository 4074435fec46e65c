/** What the API answers of invalidations, and what a body says of them (choices: 5). */
import { Type } from 'typebox'
import { printBanExpression } from '../../vcl/ban-expression.js'
import {
  invalidationStateName,
  invalidationStates,
  memberLimit,
  ttlLimitSeconds,
} from './invalidation.js'
import type { AgentResult } from './invalidation-results.js'
import {
  listedResultsMost,
  type InvalidationView,
  type ListedInvalidation,
} from './invalidation-view.js'
import {
  idSchema,
  organizationSchema,
  orNull,
  ownerReference,
  referenceSchema,
  referencesTo,
  referenceTo,
  timeSchema,
} from '../api/references.js'
import { groupSchema } from '../groups/group-views.js'
import { agentSchema } from '../agents/agent-view.js'
import { toIso } from '../api/times.js'
import { domainSchema } from '../domains/domain-view.js'
import { tagSchema } from '../tags/tag-view.js'

const closed = { additionalProperties: false }

const resultSchema = Type.Object(
  {
    agent: referenceSchema,
    state: Type.Enum(['pending', 'done', 'failed', 'expired', 'cancelled']),
    error: orNull(
      Type.String({
        description:
          'Why it failed or is tried again; unconfirmed: the cache answered, its counters were not seen',
      }),
    ),
    at: orNull(timeSchema),
  },
  closed,
)

const listedFields = {
  id: idSchema,
  organization: organizationSchema,
  type: Type.Enum(['ban', 'purge']),
  expressions: Type.Array(Type.String()),
  urls: Type.Array(Type.String()),
  method: orNull(Type.String()),
  headers: orNull(Type.Record(Type.String(), Type.String())),
  target: Type.Object(
    {
      vclGroup: Type.Optional(referenceSchema),
      domains: Type.Optional(Type.Array(Type.Object({ id: idSchema, fqdn: Type.String() }))),
      tags: Type.Optional(Type.Array(referenceSchema)),
      agents: Type.Optional(Type.Array(referenceSchema)),
      all: Type.Optional(Type.Literal(true)),
    },
    { ...closed, description: 'As they were called when it was made' },
  ),
  ttl: Type.Integer({ description: 'Seconds' }),
  state: Type.Enum(Object.values(invalidationStates), {
    description:
      '1 Running, 2 Completed, 3 Failed, 4 Retrying, 5 Waiting (for agents that are away), 6 Cancelled',
  }),
  stateName: Type.String(),
  done: Type.Integer(),
  total: Type.Integer(),
  warnings: Type.Array(Type.String({ description: 'What the ban does not say by itself' })),
  account: Type.String(),
  created: timeSchema,
  updated: timeSchema,
  expires: timeSchema,
  finished: orNull(timeSchema),
}

const resultsSchema = Type.Array(resultSchema, {
  description: `One for each agent; in lists, and when it is made, only of entries for at most ${listedResultsMost}`,
})

export const listedInvalidationSchema = Type.Object(
  { ...listedFields, results: Type.Optional(resultsSchema) },
  closed,
)
export const invalidationSchema = Type.Object({ ...listedFields, results: resultsSchema }, closed)

export const previewSchema = Type.Object(
  {
    total: Type.Integer({ minimum: 0, description: 'Agents of the target' }),
    reached: Type.Integer({
      minimum: 0,
      description: 'Agents of the total that would have something to do',
    }),
    away: Type.Integer({ minimum: 0, description: 'Of the reached: they would do it later' }),
    warnings: listedFields.warnings,
  },
  closed,
)

export function toListedView({ entry, summary, results }: Omit<ListedInvalidation, 'id'>) {
  const { content } = entry
  return {
    id: entry.id,
    organization: entry.organization,
    type: content.type,
    expressions: content.type === 'ban' ? content.expressions.map(printBanExpression) : [],
    urls: content.type === 'purge' ? content.urls : [],
    method: content.type === 'purge' ? content.method : null,
    headers: content.type === 'purge' ? content.headers : null,
    target: entry.target,
    ttl: entry.ttlSeconds,
    state: summary.state,
    stateName: invalidationStateName(summary.state),
    done: summary.done,
    total: summary.total,
    warnings: entry.warnings,
    account: entry.account,
    created: toIso(entry.createdAt),
    updated: toIso(entry.updatedAt),
    expires: toIso(entry.expiresAt),
    finished: entry.finishedAt === null ? null : toIso(entry.finishedAt),
    ...(results && { results: results.map(toResultView) }),
  }
}

function toResultView(result: AgentResult) {
  return { ...result, at: result.at === null ? null : toIso(result.at) }
}

export function toInvalidationView(view: InvalidationView) {
  return { ...toListedView(view), results: view.results.map(toResultView) }
}

const some = { minItems: 1 }

/** Exactly one key, which is checked apart: a message should name what is wrong. */
export const targetSchema = Type.Object(
  {
    vclGroup: Type.Optional(referenceTo(Object.keys(groupSchema.properties))),
    domains: Type.Optional(referencesTo([...Object.keys(domainSchema.properties), 'name'], some)),
    tags: Type.Optional(referencesTo(Object.keys(tagSchema.properties), some)),
    agents: Type.Optional(referencesTo(Object.keys(agentSchema.properties), some)),
    all: Type.Optional(Type.Literal(true)),
  },
  { ...closed, description: 'Exactly one key' },
)

export const invalidationBody = Type.Object(
  {
    type: Type.Enum(['ban', 'purge']),
    expression: Type.Optional(
      Type.String({ description: 'Of a ban', examples: ['obj.http.x-url ~ ^/img/'] }),
    ),
    expressions: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: memberLimit })),
    urls: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: memberLimit })),
    target: targetSchema,
    method: Type.Optional(orNull(Type.String({ description: 'Of a purge; PURGE unless given' }))),
    headers: Type.Optional(orNull(Type.Record(Type.String(), Type.String()))),
    ttl: Type.Optional(
      orNull(
        Type.Integer({
          minimum: 1,
          maximum: ttlLimitSeconds,
          description: 'Seconds; 24 h unless given',
        }),
      ),
    ),
    organization: ownerReference,
  },
  closed,
)
