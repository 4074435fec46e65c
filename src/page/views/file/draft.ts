/** Text that is not saved yet: it outlives a reload and the way to another view, in this tab and for this person only. */
import { readWho } from '../../session/rights.js'

export interface Draft {
  readonly text: string
  /** Of what it was written over. */
  readonly etag: string | null
  readonly version: number
}

/** Asked for once: who leaves is not logged in any more when the last text is kept. */
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
