/**
 * Which link of an agent counts, where several coordinators share a store (docs/behaviour.md, Enrolment: a second use of a live
 * agent's credential does not displace it). The bus says at once whether another process has a living link; the claim in the
 * store decides between two that come at the same time, and for all of it while the bus is away.
 */
import { linkSubject } from '../bus/subjects.js'
import { agentStates } from '../../resources/agent-state.js'
import { FleetError } from '../../errors.js'
import { claimLink, readLinks, releaseLink } from './link-queries.js'
import type { Credential } from '../registration/agent-credentials.js'
import type { StateService } from '../service.js'

/** A session asks its agent for a pong before it says that it lives; then it gets this long to say so. */
const probeTimeoutMs = 4000

/** Asked of whichever process holds the session; a holder that does not answer is gone. */
export async function isAgentLinked(service: StateService, agentId: number): Promise<boolean> {
  try {
    await service.bus.request(linkSubject(agentId), {}, probeTimeoutMs)
    return true
  } catch (error) {
    if (!(error instanceof FleetError)) throw error
    if (error.errorKey !== 'store') return false
  }
  // The bus is away: a claim counts until its agent was not heard of for long.
  const [row] = await readLinks(service.store.queries, [agentId])
  return row !== undefined && row.linkId !== null && row.state !== agentStates.Down
}

/**
 * Answers false when another link was faster. Call when this one answers `linkSubject`. A coordinator that is alone knows its
 * sessions without the store.
 */
export async function claimAgentLink(
  service: StateService,
  credential: Pick<Credential, 'linkId'>,
  link: { readonly agentId: number; readonly linkId: string },
): Promise<boolean> {
  if (!service.bus.isShared) return true
  const { agentId, linkId } = link
  // Whoever reads the claim must find that this link answers. While the bus is away nobody can ask.
  await service.bus.check().catch(() => undefined)
  return claimLink(service.store.queries, agentId, { before: credential.linkId, linkId })
}

/** Never rejects: a claim that stays is no obstacle when the bus says that nobody has the link. */
export async function releaseAgentLink(
  service: StateService,
  agentId: number,
  linkId: string,
): Promise<void> {
  if (!service.bus.isShared) return
  await releaseLink(service.store.queries, agentId, linkId).catch(() => undefined)
}

interface HeldLink {
  readonly agentId: number
  readonly keyDigest: string | null
  readonly linkId: string
}

/** Those that count no longer: the agent was deleted or taken over, or has a newer link. */
export async function findStaleLinks(
  service: StateService,
  held: readonly HeldLink[],
): Promise<readonly number[]> {
  const rows = await readLinks(
    service.store.queries,
    held.map(({ agentId }) => agentId),
  )
  const known = new Map(rows.map((row) => [row.id, row]))
  return held.flatMap(({ agentId, keyDigest, linkId }) => {
    const row = known.get(agentId)
    return row?.keyDigest === keyDigest && row.linkId === linkId ? [] : [agentId]
  })
}
