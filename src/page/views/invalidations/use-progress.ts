/** How many caches have done what is on its way: asked while somebody looks, since events tell only how it begins and ends. */
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
