/** Polls the number of finished caches while the view is visible: events report only the start and the end. */
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
