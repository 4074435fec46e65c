/**
 * Samples for listeners of events, of the agents that each looks at. Nothing of them is kept: who is slow, or comes back,
 * goes on with those that come then.
 */
import { printSample, printValues } from './event-text.js'
import { describeFullQuota, describeFullShare, hasFairRoom } from '../../resources/quota.js'
import { FleetError } from '../../errors.js'
import type { NamedQuotas } from '../store/quotas.js'
import type { AskedCache } from '../statistics/asked-caches.js'
import type { LiveSample } from '../bus/subjects.js'
import type { LiveSamples } from '../statistics/live-samples.js'

/** An agent that a listener looks at. */
export interface LookedAtAgent extends AskedCache {
  /** As it was called when the stream began. */
  readonly name: string
}

/** Whose quotas count. */
interface SampleHolder {
  readonly accountId: number
  readonly organizationId: number | null
  /** Undefined: the system administrator, who has none. */
  readonly organization: NamedQuotas | undefined
}

interface SampleListener extends SampleHolder {
  readonly agents: readonly LookedAtAgent[]
  /** Asked before each sample: it may still hear it, and takes what it is given. */
  readonly isReady: () => boolean
  readonly write: (text: Buffer) => void
}

interface SampleStreams {
  /** Throws FleetError 'limited' when the account, its organization or the coordinator looks at too much already. */
  requireRoom(holder: SampleHolder, agents: readonly LookedAtAgent[]): void
  /** Until the answered function is called, once. Throws as `requireRoom`. */
  open(listener: SampleListener): () => void
}

/** Chosen by us: agents that one account looks at here, one that two streams name counted twice; a write a second each. */
export const looksOfAccount = 500
/** Chosen by us: at one coordinator, some 20 ms of work a second. */
const looksMost = 2_000
/** Chosen by us. */
const retryAfterSeconds = 30

export function createSampleStreams(liveSamples: LiveSamples): SampleStreams {
  const open = new Set<SampleListener>()
  /** JSON of the sample that came last, by what is left out of it. */
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
    agents: readonly LookedAtAgent[],
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
    if (ofAccount + wanted > looksOfAccount)
      throw limited(`this account looks at ${looksOfAccount} agents at most here; end some`)
    if (used + wanted > looksMost)
      throw limited(`this coordinator shows ${looksMost} agents live at most; try another one`)
    const ids = agents.map(({ agentId }) => agentId)
    liveSamples.requireRoom(ids)
    if (!organization) return
    const { name, quotas } = organization
    if (subscriptions >= quotas.liveSubscriptions)
      throw limited(describeFullQuota(name, 'liveSubscriptions', quotas.liveSubscriptions))
    // What it looks at is at least what agents send for it alone.
    const isFair = [{ total: looksMost, used, wanted }, liveSamples.foresee(ids)].every((shared) =>
      hasFairRoom({ ...shared, held }),
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
