/** `/top`: the most frequent values in the traffic of many caches (docs/behaviour.md, Top lists). */
import { Type } from 'typebox'
import { FleetError } from '../../errors.js'
import type { Context } from '../../context.js'
import type { TopAnswer, TopQuestion } from '../../messages/live-log.js'
import { topKinds } from '../../resources/logged-transaction.js'
import { mergeCounts } from '../../traffic/space-saving.js'
import { instructAgent } from '../agents/instruct.js'
import { route, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { selectCaches, toAsked, type SelectedCaches } from './select-caches.js'
import { mayReadClients, readWanted, selectorSchema } from './wanted.js'

const errorKey = 'log'
const closed = { additionalProperties: false }
/** The time for the messages, added to the counted seconds. */
const graceMs = 5_000
/** The limit per organization; each top list needs a log reader on its caches. */
const maxRunning = 5
/** Each agent returns more rows than requested, because a key that is tenth on every cache may be first overall. */
const leastRowsPerAgent = 1_000

const querySchema = Type.Object(
  {
    ...selectorSchema,
    by: Type.Enum(topKinds, {
      description:
        'url, host, status, backend, missUrl (urls that miss), slowUrl (urls that take over 1 s), bytes (by url)',
    }),
    seconds: Type.Optional(
      Type.Integer({ description: 'how long is counted; 30', minimum: 1, maximum: 300 }),
    ),
    n: Type.Optional(
      Type.Integer({ description: 'how many are answered; 50', minimum: 1, maximum: 1000 }),
    ),
  },
  closed,
)

const rowSchema = Type.Object(
  {
    key: Type.String({ description: 'Of by=backend `-`: no backend was asked' }),
    count: Type.Number({ description: 'Requests; bytes of by=bytes' }),
    share: Type.Number({ description: 'Of all that were counted, 0 to 1' }),
    error: Type.Number({ description: 'By so much the count may be too high' }),
  },
  closed,
)

export function topRoute(service: StateService): Route {
  const running = new Map<number | null, number>()
  return route({
    method: 'GET',
    path: '/top',
    operationId: 'countTop',
    summary:
      'What is most frequent in the traffic of these caches, counted from now on for a while',
    errorKey,
    permission: { type: 'log', access: 'read', alsoReads: 'agent' },
    query: querySchema,
    answers: { 200: Type.Array(rowSchema) },
    handle: async ({ context, actor, query }) => {
      const { by, seconds = 30, n = 50 } = query
      const wanted = readWanted(actor, query)
      const selected = await selectCaches(service, actor, query)
      const held = running.get(actor.organizationId) ?? 0
      if (actor.organizationId !== null && held >= maxRunning)
        throw new FleetError(
          'limited',
          errorKey,
          `this organization counts ${maxRunning} top lists already; wait for one to end`,
          { retryAfterSeconds: seconds },
        )
      running.set(actor.organizationId, held + 1)
      try {
        const question = { kind: 'top', by, seconds, most: Math.max(n, leastRowsPerAgent) } as const
        const masksClients = !mayReadClients(actor)
        const counted = { ...wanted, linesPerSecond: 1, masksClients, withRecords: false }
        const asked = toAsked(selected, counted)
        const questions = asked.map(({ agentId, wanted: its }) => ({
          agentId,
          question: { ...question, wanted: its },
        }))
        return { status: 200, body: merge(await askAll(service, context, questions), n) }
      } finally {
        running.set(actor.organizationId, (running.get(actor.organizationId) ?? 1) - 1)
      }
    },
  })
}

interface Asked {
  readonly agentId: SelectedCaches['caches'][number]['agentId']
  readonly question: TopQuestion
}

/** Returns the answers that arrived. Throws the first error if there are none. */
async function askAll(
  service: StateService,
  context: Context,
  asked: readonly Asked[],
): Promise<readonly TopAnswer[]> {
  const answers = await Promise.allSettled(
    asked.map((one) =>
      instructAgent(service, context, {
        ...one,
        timeoutMs: one.question.seconds * 1000 + graceMs,
      }),
    ),
  )
  const counted = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const [failed] = answers.flatMap((one) => (one.status === 'rejected' ? [one] : []))
  if (counted.length === 0 && failed) throw failed.reason
  return counted
}

function merge(answers: readonly TopAnswer[], n: number) {
  const total = answers.reduce((sum, answer) => sum + answer.total, 0)
  return mergeCounts(
    answers.map(({ top }) => top),
    n,
  ).map((row) => ({
    key: row.key,
    count: row.count,
    share: total > 0 ? Number((row.count / total).toFixed(6)) : 0,
    error: row.error,
  }))
}
