/**
 * Live samples for event subscribers, of the agents that each named. Samples are not kept: a slow or returning subscriber
 * continues with the next ones.
 */
import { printSample, printValues } from './event-text.js'
import { describeFullQuota, describeFullShare, hasFairRoom } from '../../resources/quota.js'
import { FleetError } from '../../errors.js'
import type { NamedQuotas } from '../store/quotas.js'
import type { AskedCache } from '../statistics/asked-caches.js'
import type { LiveSample } from '../bus/subjects.js'
import type { LiveSamples } from '../statistics/live-samples.js'

/** An agent whose live samples a subscriber receives. */
export interface SampledAgent extends AskedCache {
  /** Name when the stream began. */
  readonly name: string
}

/** Account and organization whose quotas apply. */
interface SampleHolder {
  readonly accountId: number
  readonly organizationId: number | null
  /** Undefined for the system administrator, who has no quotas. */
  readonly organization: NamedQuotas | undefined
}

interface SampleListener extends SampleHolder {
  readonly agents: readonly SampledAgent[]
  /** Checked before each sample: the subscriber may still receive it and reads its stream. */
  readonly isReady: () => boolean
  readonly write: (text: Buffer) => void
}

interface SampleStreams {
  /** Throws FleetError 'limited' when the account, its organization or the coordinator has too many live subscriptions. */
  requireRoom(holder: SampleHolder, agents: readonly SampledAgent[]): void
  /** Until the returned function is called once. Throws like `requireRoom`. */
  open(listener: SampleListener): () => void
}

/** Agents that one account subscribes to here; an agent named by two streams counts twice. Each costs a write a second. */
export const liveAgentsOfAccount = 500
/** Per coordinator, about 20 ms of work a second. */
const liveAgentsOfAll = 2_000
const retryAfterSeconds = 30

export function createSampleStreams(liveSamples: LiveSamples): SampleStreams {
  const open = new Set<SampleListener>()
  /** JSON of the last sample, by the fields left out of it. */
  const printed = new WeakMap<LiveSample, Map<string | null, string>>()

  return {
    requireRoom,
    open: (listener) => {
      const { agents, isReady, write } = listener
      if (agents.length === 0) return () => undefined
      requireRoom(listener, agents)
      const byId = new Map(agents.map((agent) => [agent.agentId, agent]))
      const stop = liveSamples.watch([...byId.keys()], (sample) => {
        const agent = byId.get(sample.agentId)
        if (!agent || !isReady()) return
        const { agentId: id, name, hidden } = agent
        write(Buffer.from(printSample({ id, name }, sample.at, printOnce(sample, hidden))))
      })
      open.add(listener)
      return () => {
        stop()
        open.delete(listener)
      }
    },
  }

  function requireRoom(
    { accountId, organizationId, organization }: SampleHolder,
    agents: readonly SampledAgent[],
  ): void {
    const wanted = agents.length
    if (wanted === 0) return
    let [ofAccount, held, used, subscriptions] = [0, 0, 0, 0]
    for (const one of open) {
      used += one.agents.length
      if (one.accountId === accountId) ofAccount += one.agents.length
      if (one.organizationId !== organizationId) continue
      held += one.agents.length
      subscriptions++
    }
    if (ofAccount + wanted > liveAgentsOfAccount)
      throw limited(
        `this account has live samples of ${liveAgentsOfAccount} agents here already; end some streams`,
      )
    if (used + wanted > liveAgentsOfAll)
      throw limited(
        `this coordinator shows ${liveAgentsOfAll} agents live at most; try another one`,
      )
    const ids = agents.map(({ agentId }) => agentId)
    liveSamples.requireRoom(ids)
    if (!organization) return
    const { name, quotas } = organization
    if (subscriptions >= quotas.liveSubscriptions)
      throw limited(describeFullQuota(name, 'liveSubscriptions', quotas.liveSubscriptions))
    // A subscription causes at least the load of its own agents' samples.
    const isFair = [{ total: liveAgentsOfAll, used, wanted }, liveSamples.foresee(ids)].every(
      (shared) => hasFairRoom({ ...shared, held }),
    )
    if (!isFair)
      throw limited(describeFullShare(name, 'the agents that this coordinator shows live'))
  }

  function printOnce(sample: LiveSample, hidden: string | null): string {
    const known = printed.get(sample) ?? new Map<string | null, string>()
    printed.set(sample, known)
    const values = known.get(hidden) ?? printValues(sample.names, sample.values, hidden)
    known.set(hidden, values)
    return values
  }
}

function limited(message: string): FleetError {
  return new FleetError('limited', 'event', message, { retryAfterSeconds })
}
