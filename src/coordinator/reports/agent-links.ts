/**
 * Decides which link of an agent is valid when several coordinators share a store (docs/behaviour.md, Enrolment: a second use of a
 * live agent's credential does not displace it). A request on the bus shows at once whether another process holds a live link. The
 * claim in the store decides between two simultaneous links, and decides alone while the bus is unavailable.
 */
import { linkSubject } from '../bus/subjects.js'
import { agentStates } from '../../resources/agent-state.js'
import { FleetError } from '../../errors.js'
import { claimLink, readLinks, releaseLink } from './link-queries.js'
import type { Credential } from '../registration/agent-credentials.js'
import type { StateService } from '../service.js'

/** How long to wait for the session's reply; before it replies, the session waits for a pong from its agent. */
const probeTimeoutMs = 4000

/** Requests a reply from the process that holds the session; without a reply there is no live link. */
export async function isAgentLinked(service: StateService, agentId: number): Promise<boolean> {
  try {
    await service.bus.request(linkSubject(agentId), {}, probeTimeoutMs)
    return true
  } catch (error) {
    if (!(error instanceof FleetError)) throw error
    if (error.errorKey !== 'store') return false
  }
  // The bus is unavailable: a claim is valid until its agent is Down.
  const [row] = await readLinks(service.store.queries, [agentId])
  return row !== undefined && row.linkId !== null && row.state !== agentStates.Down
}

/**
 * Returns false if another link claimed the agent first. Call once this link responds on `linkSubject`. A coordinator that runs
 * alone knows its sessions without the store.
 */
export async function claimAgentLink(
  service: StateService,
  credential: Pick<Credential, 'linkId'>,
  link: { readonly agentId: number; readonly linkId: string },
): Promise<boolean> {
  if (!service.bus.isShared) return true
  const { agentId, linkId } = link
  // A process that reads the claim must get a reply from this link. While the bus is unavailable no process can send the request.
  await service.bus.check().catch(() => undefined)
  return claimLink(service.store.queries, agentId, { before: credential.linkId, linkId })
}

/** Never rejects: a claim left behind blocks no new link once the bus shows that no process holds the old one. */
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

/** Returns the agents whose held link is no longer valid: the agent was deleted or taken over, or has a newer link. */
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
