/** Schemas of invalidations in responses and request bodies. */
import { Type } from 'typebox'
import { agent } from '../../resources/agent.js'
import { domain } from '../../resources/domain.js'
import {
  invalidation,
  invalidationPreview,
  listedInvalidation,
} from '../../resources/invalidation.js'
import { tag } from '../../resources/tag.js'
import { vclGroup } from '../../resources/vclgroup.js'
import { printBanExpression } from '../../vcl/ban-expression.js'
import { orNull, ownerReference, referencesTo, referenceTo } from '../api/references.js'
import { answerMaker } from '../api/resource-answers.js'
import { answerSchema, referenceKeys } from '../api/resource-schemas.js'
import { toIso } from '../api/times.js'
import { findInvalidationProblems } from '../problems/find-invalidation-problems.js'
import { toProblems } from '../problems/make-problem.js'
import { invalidationStateName, memberLimit, ttlLimitSeconds } from './invalidation.js'
import type { AgentResult } from './invalidation-results.js'
import type { InvalidationView, ListedInvalidation } from './invalidation-view.js'

const closed = { additionalProperties: false }

export const listedInvalidationSchema = answerSchema(listedInvalidation)
export const invalidationSchema = answerSchema(invalidation.fields)
export const previewSchema = answerSchema(invalidationPreview)

const makeAnswer = answerMaker(listedInvalidation)

export function toListedView({ entry, summary, results }: Omit<ListedInvalidation, 'id'>) {
  const { content, target, warnings } = entry
  const { state, done, total } = summary
  const purge = content.type === 'purge' ? content : null
  return makeAnswer(entry, {
    expressions: content.type === 'ban' ? content.expressions.map(printBanExpression) : [],
    urls: purge?.urls ?? [],
    method: purge?.method ?? null,
    headers: purge?.headers ?? null,
    target,
    state,
    stateName: invalidationStateName(state),
    problems: toProblems(findInvalidationProblems(entry, summary), () => entry.updatedAt),
    done,
    total,
    warnings,
    ...(results && { results: results.map(toResultView) }),
  })
}

function toResultView(result: AgentResult) {
  return { ...result, at: result.at === null ? null : toIso(result.at) }
}

export function toInvalidationView(view: InvalidationView) {
  return { ...toListedView(view), results: view.results.map(toResultView) }
}

const some = { minItems: 1 }

/** Exactly one key, checked separately so that the message can name the error. */
export const targetSchema = Type.Object(
  {
    vclGroup: Type.Optional(referenceTo(referenceKeys(vclGroup))),
    domains: Type.Optional(referencesTo(referenceKeys(domain), some)),
    tags: Type.Optional(referencesTo(referenceKeys(tag), some)),
    agents: Type.Optional(referencesTo(referenceKeys(agent), some)),
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
