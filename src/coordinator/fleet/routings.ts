/** The generated VCLs that route requests, stored as sources by hash as long as an agent's desired state names them. */
import type { RoutingVcl } from '../../vcl/routing.js'
import { keepSource } from './sources.js'
import { listIds, writeIds } from '../store/given-rows.js'
import { inPieces } from '../store/in-pieces.js'
import { prepareQuery } from '../store/prepared-query.js'
import type { Queries } from '../store/store.js'

export interface AgentRoutings {
  readonly agentId: number
  readonly routings: readonly RoutingVcl[]
}

/** Replaces the routings that these agents' desired states name. Call under the decision lock. */
export async function keepRoutings(
  queries: Queries,
  agents: readonly AgentRoutings[],
): Promise<void> {
  const texts = new Map(agents.flatMap(({ routings }) => routings.map((one) => [one.sha, one])))
  for (const { sha, text } of texts.values())
    // Its creation time is not used, and none of its positions is in an author's file.
    await keepSource(queries, { sha, text, sourceMap: { files: [], segments: [] } }, Date.now())
  await deleteOf(queries, [writeIds(agents.map(({ agentId }) => agentId))])
  const rows = agents.flatMap(({ agentId, routings }) =>
    routings.map(({ sha }) => ({ agentId, sha })),
  )
  await inPieces(rows, (piece) => queries.insertInto('agentRoutings').values(piece).execute())
}

const deleteOf = prepareQuery((queries) =>
  queries.deleteFrom('agentRoutings').where('agentId', 'in', listIds([])),
)
