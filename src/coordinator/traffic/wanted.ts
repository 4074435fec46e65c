/** The parameters of the live log and of top lists, validated before any cache is contacted (docs/behaviour.md, Live log). */
import { Type } from 'typebox'
import { FleetError } from '../../errors.js'
import { may, type Actor } from '../../resources/permission.js'
import { judgeLogQuery, requireSample } from '../../traffic/judge-query.js'
import { parseLogQuery, printLogQuery } from '../../traffic/log-query.js'
import { queryLimitBytes } from '../../traffic/query-words.js'
import type { WantedLog } from '../../messages/live-log.js'

const text = (description: string, example: string) =>
  Type.Optional(Type.String({ description, examples: [example] }))

export const selectorSchema = {
  agents: text('ids of agents; left out: all that you may see', '1,2'),
  tags: text('ids of tags: agents that have all of them', '3'),
  vclGroup: Type.Optional(Type.Integer({ description: 'id: only its requests', minimum: 1 })),
  domain: Type.Optional(Type.Integer({ description: 'id: only its requests', minimum: 1 })),
  q: text("a query of the cache's log, as vsl-query(7) tells", 'RespStatus >= 500'),
  sample: Type.Optional(
    Type.Integer({ description: 'one of so many requests: 1, 10, 100 or 1000', minimum: 1 }),
  ),
} as const

export function mayReadClients(actor: Actor): boolean {
  return may(actor, 'logclient', 'read')
}

/** Throws FleetError 'invalid'. */
export function readWanted(
  actor: Actor,
  { q, sample = 1 }: { readonly q?: string; readonly sample?: number },
): Pick<WantedLog, 'query' | 'sample'> {
  return { query: q === undefined ? null : judge(actor, q), sample: requireSample(sample) }
}

/** Returns the query in the syntax of the log tool. */
function judge(actor: Actor, q: string): string {
  const query = parseLogQuery(q)
  judgeLogQuery(q, query, {
    isBound: actor.organizationId !== null,
    // The agent itself checks the query against its other masks.
    masking: { headers: [], masksQuery: false, masksClients: !mayReadClients(actor) },
  })
  const printed = printLogQuery(query)
  if (Buffer.byteLength(printed) <= queryLimitBytes) return printed
  throw new FleetError('invalid', 'log', `q: it has more than ${queryLimitBytes} bytes`)
}
