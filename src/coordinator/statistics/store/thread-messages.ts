/** The messages between a coordinator and its archive's thread. */
import type { ArchiveOptions } from './local-archive.js'
import type { StatisticsArchive } from './statistics-archive.js'

/** The thread's start parameters. */
export interface ArchiveOrder {
  readonly url: string
  readonly options: ArchiveOptions
}

/** The archive methods that return a result. */
export type AskedMethod = Exclude<keyof StatisticsArchive, 'record' | 'release'>

/** A method call with its arguments. */
export interface Question<Method extends AskedMethod = AskedMethod> {
  readonly method: Method
  readonly given: Parameters<StatisticsArchive[Method]>
}

/** Samples of many caches in buffers that are transferred to the thread. */
export interface SampleBatch {
  /** Whether the numbering of name lists restarts at 0; earlier numbers become invalid. */
  readonly isAnew: boolean
  /** Name lists that are new to the thread; a list's number is its position among all lists sent. */
  readonly names: readonly (readonly string[])[]
  /** Per sample: agent, organization (NaN: none), time, span (NaN: unknown), number of its name list. */
  readonly heads: Float64Array<ArrayBuffer>
  /** The values of all samples, concatenated; NaN: unknown. */
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

/** An error in serialized form. */
export interface ArchiveFailure {
  readonly message: string
  /** Null: a bug. */
  readonly retryAfterSeconds: number | null
}

/** Numbers in a head. */
export const headLength = 5
