/** Polls how many caches are done while the view is visible: events report only the begin and the end. */
import { useEffect } from 'preact/hooks'

export function useProgress(isOpen: boolean, everyMs: number, reload: () => void): void {
  useEffect(() => {
    if (!isOpen) return
    const asking = setInterval(() => {
      if (!document.hidden) reload()
    }, everyMs)
    return () => {
      clearInterval(asking)
    }
  }, [isOpen, everyMs, reload])
}
