/**
 * Live subscriptions: a subscribed agent sends a sample every second and stops by itself half a minute after the last
 * subscription. The agent may be linked to any coordinator.
 */
import type { Bus, Subscription } from '../bus/bus.js'
import { agentWatchSubject, liveSampleSubject, type LiveSample } from '../bus/subjects.js'
import { FleetError } from '../../errors.js'
import { startLoop } from '../../runtime/loop.js'

export interface LiveSamples {
  /** Throws FleetError 'limited' if there are too many live subscriptions already. */
  requireRoom(agentIds: readonly number[]): void
  /** The limit, the number of agents in use, and how many more these would add. */
  foresee(agentIds: readonly number[]): {
    readonly total: number
    readonly used: number
    readonly wanted: number
  }
  /**
   * Subscribes until the returned function is called. The caller must check whether the user may see these agents. Throws as
   * `requireRoom`.
   */
  watch(agentIds: readonly number[], onSample: (sample: LiveSample) => void): () => void
  close(): Promise<void>
}

/** The subscription time sent to an agent, and the renewal interval: one lost message does not end a subscription. */
export const watchForMs = 30_000
const renewEveryMs = 15_000
/** Agents with a live subscription at one coordinator. */
const maxWatched = 1000

interface Watched {
  readonly listeners: Set<(sample: LiveSample) => void>
  readonly subscription: Subscription
}

export function createLiveSamples(bus: Bus): LiveSamples {
  const watched = new Map<number, Watched>()
  const renewing = startLoop({
    log: null,
    everyMs: null,
    pass: ({ nextIn }) => {
      publishWatch([...watched.keys()])
      nextIn(watched.size > 0 ? renewEveryMs : null)
    },
  })

  return {
    requireRoom,
    foresee: (agentIds) => ({
      total: maxWatched,
      used: watched.size,
      wanted: listUnwatched(agentIds).length,
    }),
    watch: (agentIds, listener) => {
      // Wrapped, so that the same function may subscribe twice.
      const onSample = (sample: LiveSample): void => {
        listener(sample)
      }
      requireRoom(agentIds)
      const ids = [...new Set(agentIds)]
      const fresh = listUnwatched(ids)
      for (const agentId of ids) {
        const { listeners } = watched.get(agentId) ?? begin(agentId)
        listeners.add(onSample)
      }
      publishWatch(fresh)
      renewing.wake(renewEveryMs)
      return () => {
        for (const agentId of ids) leave(agentId, onSample)
      }
    },
    close: () => {
      for (const { subscription } of watched.values()) subscription.close()
      watched.clear()
      return renewing.close()
    },
  }

  function listUnwatched(agentIds: readonly number[]): readonly number[] {
    return [...new Set(agentIds)].filter((agentId) => !watched.has(agentId))
  }

  function requireRoom(agentIds: readonly number[]): void {
    if (watched.size + listUnwatched(agentIds).length <= maxWatched) return
    throw new FleetError(
      'limited',
      'agent',
      `${watched.size} agents have live subscriptions already; ${maxWatched} is the limit`,
      { retryAfterSeconds: 30 },
    )
  }

  function begin(agentId: number): Watched {
    const listeners = new Set<(sample: LiveSample) => void>()
    const subscription = bus.subscribe(liveSampleSubject(agentId), (sample) => {
      for (const listener of [...listeners]) listener(sample)
    })
    const begun = { listeners, subscription }
    watched.set(agentId, begun)
    return begun
  }

  function leave(agentId: number, onSample: (sample: LiveSample) => void): void {
    const one = watched.get(agentId)
    one?.listeners.delete(onSample)
    if (!one || one.listeners.size > 0) return
    one.subscription.close()
    watched.delete(agentId)
  }

  function publishWatch(agentIds: readonly number[]): void {
    if (agentIds.length > 0) bus.publish(agentWatchSubject, { agentIds })
  }
}
