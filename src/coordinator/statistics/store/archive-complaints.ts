/** The archive's log messages: each is logged once until rows are written again. */
import type { ArchiveEvents } from './statistics-archive.js'

/** By the limit that is reached. */
const seriesComplaints = {
  cache: 'a cache has more counters than are kept',
  figures:
    'a quarter of the series that this coordinator keeps are taken, figures of further groups and domains are not kept; link some agents to another coordinator',
  total:
    'all series that this coordinator keeps are taken, further counters are not kept; link some agents to another coordinator',
  share:
    'nearly all series that this coordinator keeps are taken, and the organization holds its share of them: further counters of its caches are not kept; link some of its agents to another coordinator',
} as const

interface RefusedSeries {
  readonly agentId: number
  readonly organizationId: number | null
  readonly refused: number
  readonly maxSeries: number
}

export class ArchiveComplaints {
  readonly #warn: ArchiveEvents['warn']
  readonly #logged = new Set<string>()

  constructor({ warn }: ArchiveEvents) {
    this.#warn = warn
  }

  ofError(message: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    this.#logOnce(message, { reason }, message)
  }

  /** 'share' is logged once per organization. */
  ofSeries(refused: RefusedSeries, full: keyof typeof seriesComplaints): void {
    const message = seriesComplaints[full]
    this.#logOnce(`${message} ${full === 'share' ? refused.organizationId : ''}`, refused, message)
  }

  #logOnce(key: string, fields: object, message: string): void {
    if (this.#logged.has(key)) return
    this.#logged.add(key)
    this.#warn({ ...fields }, message)
  }

  forget(): void {
    this.#logged.clear()
  }
}
