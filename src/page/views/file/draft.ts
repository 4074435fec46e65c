/** Unsaved text, kept across reloads and view changes, in this tab and for this user only. */
import { useEffect, useRef } from 'preact/hooks'
import { readWho } from '../../session/rights.js'

export interface Draft {
  readonly text: string
  /** ETag of the version that the text is based on. */
  readonly etag: string | null
  readonly version: number
}

/** Computed once: after a logout the account is unknown by the time the last text is kept. */
export function draftKeyOf(fileId: string): string {
  return `cachefleet-draft ${readWho()?.account.id ?? 0} ${fileId}`
}

export function keepDraft(key: string, draft: Draft | null): void {
  try {
    if (draft) sessionStorage.setItem(key, JSON.stringify(draft))
    else sessionStorage.removeItem(key)
  } catch {
    // No room or not allowed: the warning before a reload stays.
  }
}

export function readDraft(key: string): Draft | null {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? 'null')
    return isDraft(kept) ? kept : null
  } catch {
    return null
  }
}

function isDraft(kept: unknown): kept is Draft {
  return (
    typeof kept === 'object' &&
    kept !== null &&
    typeof Reflect.get(kept, 'text') === 'string' &&
    typeof Reflect.get(kept, 'version') === 'number'
  )
}

/** Warns before the page unloads, and keeps the text when it unloads or the view is left. */
export function useUnsaved(id: string, read: () => Draft | null): void {
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    const key = draftKeyOf(id)
    const keep = (): void => {
      keepDraft(key, latest.current())
    }
    const warn = (event: BeforeUnloadEvent): void => {
      keep()
      if (latest.current()) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    addEventListener('pagehide', keep)
    return () => {
      removeEventListener('beforeunload', warn)
      removeEventListener('pagehide', keep)
      keep()
    }
  }, [id])
}
