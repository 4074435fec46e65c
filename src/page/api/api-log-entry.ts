/** `/apilogs`: calls that changed something, and logins that failed. */
export interface ApiLogEntry {
  readonly id: number
  readonly created: string
  /** Info; warning: the call was refused (4xx); error: it failed (5xx). */
  readonly severity: 1 | 2 | 3
  readonly msg: string
  /** What it was about: a resource in the singular. */
  readonly keyType: string
  readonly keyId: number | null
  readonly traceId: string
  readonly account: string
  readonly method: string
  readonly path: string
  readonly status: number
  /** A plan, a preview, a check, a renewed token: nothing was to change. */
  readonly asksOnly: boolean
}
