/** The events of the stream. */
import type { EventType } from '../../resources/event.js'

/** What may be listened to. */
export type LiveType = Exclude<LiveEvent['type'], 'reset'>

export interface LiveEvent {
  /** `reset`: what was missed is not known; read again what is shown. */
  readonly type: EventType | 'problem' | 'reset'
  /** The object; of one that was deleted `{id, deleted: true}`. */
  readonly data: { readonly id: number; readonly deleted?: boolean }
}

/** The counters of one cache, each second: events per second, or a level. */
export interface Sample {
  readonly agent: { readonly id: number; readonly name: string }
  readonly at: string
  readonly values: Readonly<Record<string, number | null>>
}
