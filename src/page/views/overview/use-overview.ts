/** The overview, reloaded on events; its figures cause no events and are polled. */
import { useEffect } from 'preact/hooks'
import { overviewPath, type Overview } from '../../../resources/overview.js'
import { subscribeToEvents } from '../../api/live.js'
import type { LiveType } from '../../api/live-event.js'
import { useObject, type LoadedObject } from '../../api/object.js'

const types: readonly LiveType[] = ['problem', 'agent', 'deployment', 'backend', 'apilog']
/** The minimum time between reloads: thousands of caches may change at once. */
const restMs = 2_000
/** The interval of samples. */
const figuresMs = 10_000
const courseMs = 2_000

export function useOverview(): LoadedObject<Overview> {
  const shown = useObject<Overview>(overviewPath)
  const { reload, value } = shown
  useEffect(() => followOverview(reload), [reload])
  // The first response does not wait for the history of thousands of caches, which is ready soon after.
  const isComing = value?.lastHour?.length === 0
  useEffect(() => {
    if (!isComing) return
    const again = setTimeout(reload, courseMs)
    return () => {
      clearTimeout(again)
    }
  }, [isComing, reload])
  return shown
}

/** Returns the function that stops following. */
function followOverview(reload: () => void): () => void {
  let readAt = Date.now()
  let waiting: ReturnType<typeof setTimeout> | undefined
  const read = (): void => {
    waiting = undefined
    readAt = Date.now()
    reload()
  }
  const stop = subscribeToEvents(types, () => {
    waiting ??= setTimeout(read, Math.max(gatherMs, readAt + restMs - Date.now()))
  })
  const figures = setInterval(() => {
    if (!document.hidden && Date.now() - readAt >= figuresMs / 2) read()
  }, figuresMs)
  return () => {
    stop()
    clearTimeout(waiting)
    clearInterval(figures)
  }
}

/** The events of one change arrive together. */
const gatherMs = 300
