/** Counters of some caches while they are shown: one sample per cache and second. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Sample } from './live-event.js'
import { subscribeToSamples } from './live.js'

/** Samples of all caches arrive almost at once and are rendered together. */
const gatherMs = 250

/** The newest sample per agent id; at most 100 agents of all views together are sampled. */
export function useSamples(agents: readonly number[]): ReadonlyMap<number, Sample> {
  const newest = useSignal<ReadonlyMap<number, Sample>>(new Map())
  const key = agents.join()
  useEffect(() => {
    let next = new Map<number, Sample>()
    let gathering: ReturnType<typeof setTimeout> | undefined
    newest.value = next
    if (agents.length === 0) return
    const stop = subscribeToSamples(agents, (sample) => {
      next.set(sample.agent.id, sample)
      gathering ??= setTimeout(() => {
        gathering = undefined
        newest.value = next
        next = new Map(next)
      }, gatherMs)
    })
    return () => {
      stop()
      clearTimeout(gathering)
    }
  }, [key])
  return newest.value
}
