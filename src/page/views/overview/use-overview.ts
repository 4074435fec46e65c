/** The overview, as new as events make it; its figures have none and are read again and again. */
import { useEffect } from 'preact/hooks'
import { overviewPath, type Overview } from '../../../resources/overview.js'
import { subscribeToEvents } from '../../api/live.js'
import type { LiveType } from '../../api/live-event.js'
import { useObject, type LoadedObject } from '../../api/object.js'

const types: readonly LiveType[] = ['problem', 'agent', 'deployment', 'backend', 'apilog']
/** Whatever comes meanwhile: thousands of caches may change at once. */
const restMs = 2_000
/** As often as samples come. */
const figuresMs = 10_000
const courseMs = 2_000

export function useOverview(): LoadedObject<Overview> {
  const shown = useObject<Overview>(overviewPath)
  const { reload, value } = shown
  useEffect(() => followOverview(reload), [reload])
  // The first who asks is not kept waiting for the course of thousands of caches; it is known soon.
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

/** Answers how to stop. */
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

/** Events of one change come together. */
const gatherMs = 300
