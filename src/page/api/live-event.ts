/** Events of the stream. */
import type { EventType } from '../../resources/event.js'

/** Event types that can be subscribed to. */
export type LiveType = Exclude<LiveEvent['type'], 'reset'>

export interface LiveEvent {
  /** `reset`: missed events are unknown; everything shown must be read again. */
  readonly type: EventType | 'problem' | 'reset'
  /** The object; `{id, deleted: true}` for a deleted one. */
  readonly data: { readonly id: number; readonly deleted?: boolean }
}

/** Counters of one cache, every second: rates per second for counters, levels for gauges. */
export interface Sample {
  readonly agent: { readonly id: number; readonly name: string }
  readonly at: string
  readonly values: Readonly<Record<string, number | null>>
}
