/** What passes between a coordinator and the thread of its archive. */
import type { ArchiveOptions } from './local-archive.js'
import type { StatisticsArchive } from './statistics-archive.js'

/** What the thread is given at its start. */
export interface ArchiveOrder {
  readonly url: string
  readonly options: ArchiveOptions
}

/** What of the archive answers. */
export type AskedMethod = Exclude<keyof StatisticsArchive, 'record' | 'release'>

/** A call of it, with what it is given. */
export interface Question<Method extends AskedMethod = AskedMethod> {
  readonly method: Method
  readonly given: Parameters<StatisticsArchive[Method]>
}

/** Samples of many caches in one buffer, which changes hands. */
export interface SampleBatch {
  /** Numbers of names begin at 0 again: earlier ones mean nothing any more. */
  readonly isAnew: boolean
  /** Lists of names that are new to the thread: their number is their place among all. */
  readonly names: readonly (readonly string[])[]
  /** For each sample: agent, its organization (NaN: none), time, for how long it holds (NaN: not known), number of its names. */
  readonly heads: Float64Array<ArrayBuffer>
  /** One sample's values behind the other's; NaN: not known. */
  readonly values: Float64Array<ArrayBuffer>
}

export type ToArchive =
  | { readonly kind: 'record'; readonly batch: SampleBatch }
  | { readonly kind: 'release'; readonly agentId: number }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }

export type FromArchive =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly failure: ArchiveFailure }
  | { readonly kind: 'wrote'; readonly seconds: number; readonly rows: number }
  | {
      readonly kind: 'warn'
      readonly fields: Readonly<Record<string, unknown>>
      readonly message: string
    }

/** An error as it travels. */
export interface ArchiveFailure {
  readonly message: string
  /** Null: a bug. */
  readonly retryAfterSeconds: number | null
}

/** Numbers in a head. */
export const headLength = 5
