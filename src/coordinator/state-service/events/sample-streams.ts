/**
 * Samples for listeners of events, of the agents that each looks at. Nothing of them is kept: who is slow, or comes back,
 * goes on with those that come then.
 */
import { printSample, printValues } from '../../../domain/event-text.js'
import type { Actor } from '../../../domain/permission.js'
import { FleetError } from '../../../errors.js'
import type { AskedCache } from '../statistics/asked-caches.js'
import type { LiveSample, LiveSamples } from '../statistics/live-samples.js'

/** An agent that a listener looks at. */
export interface LookedAtAgent extends AskedCache {
  /** As it was called when the stream began. */
  readonly name: string
}

export interface SampleListener {
  readonly accountId: number
  readonly agents: readonly LookedAtAgent[]
  /** Asked before each sample: it may still hear it, and takes what it is given. */
  readonly isReady: () => boolean
  readonly write: (text: Buffer) => void
}

export interface SampleStreams {
  /** Throws FleetError 'limited' when the account, or the coordinator, looks at too much already. */
  requireRoom(actor: Actor, agents: readonly LookedAtAgent[]): void
  /** Until the answered function is called, once. Throws 'limited' when there are too many agents already. */
  open(listener: SampleListener): () => void
}

/** Chosen by us: agents that one account looks at here, one that two streams name counted twice; a write a second each. */
export const looksOfAccount = 500
/** Chosen by us: at one coordinator, some 20 ms of work a second. */
const looksMost = 2_000
/** Chosen by us. */
const retryAfterSeconds = 30

export function createSampleStreams(liveSamples: LiveSamples): SampleStreams {
  /** By account. */
  const looks = new Map<number, number>()
  /** JSON of the sample that came last, by what is left out of it. */
  const printed = new WeakMap<LiveSample, Map<string | null, string>>()

  return {
    requireRoom: ({ accountId }, agents) => {
      if (agents.length === 0) return
      liveSamples.requireRoom(agents.map(({ agentId }) => agentId))
      const ofAccount = (looks.get(accountId) ?? 0) + agents.length
      if (ofAccount > looksOfAccount)
        throw limited(`this account looks at ${looksOfAccount} agents at most here; end some`)
      let ofAll = agents.length
      for (const count of looks.values()) ofAll += count
      if (ofAll > looksMost)
        throw limited(`this coordinator shows ${looksMost} agents live at most; try another one`)
    },
    open: ({ accountId, agents, isReady, write }) => {
      if (agents.length === 0) return () => undefined
      const byId = new Map(agents.map((agent) => [agent.agentId, agent]))
      const stop = liveSamples.watch([...byId.keys()], (sample) => {
        const agent = byId.get(sample.agentId)
        if (!agent || !isReady()) return
        const { agentId: id, name, hidden } = agent
        write(Buffer.from(printSample({ id, name }, sample.at, printOnce(sample, hidden))))
      })
      count(accountId, agents.length)
      return () => {
        stop()
        count(accountId, -agents.length)
      }
    },
  }

  function count(accountId: number, added: number): void {
    const after = (looks.get(accountId) ?? 0) + added
    if (after > 0) looks.set(accountId, after)
    else looks.delete(accountId)
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
