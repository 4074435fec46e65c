/** What agents observe of a group while it is rolled out: asked for anew again and again, told in spans that add up. */
import { Type } from 'typebox'
import {
  finite,
  flag,
  list,
  orNull,
  shortText,
  text,
  whole,
  type Fitting,
} from '../resources/json-fields.js'
import { envelope } from './envelope.js'

/** Of 15 minutes, at one a second. */
const spansMost = 1_000
const probesMost = 20

const probeOrder = Type.Object({
  path: shortText,
  host: shortText,
  status: whole(100, 599),
  /** Null: any. */
  bodyContains: orNull(shortText),
  everyMs: whole(1_000, 3_600_000),
})
export type ProbeOrder = Fitting<typeof probeOrder>

/** Observe this group for so long; renewed before that is over. */
export const observeOrder = Type.Object({
  group: whole(1),
  /** Who asks: to another one all that is known is told. */
  session: shortText,
  everyMs: whole(1_000, 60_000),
  forMs: whole(0, 600_000),
  probes: list(probeOrder, probesMost),
})
export type ObserveOrder = Fitting<typeof observeOrder>

export const observe = Type.Object({ ...envelope('observe'), ...observeOrder.properties })

const span = Type.Object({
  /** What served the group all the while, by its name on the cache. */
  program: text,
  /** Since its end. */
  ageMs: whole(0),
  seconds: finite,
  /** Requests, errors, hits, misses, then counts by time to the first byte; null: the log was not read. */
  figures: orNull(list(finite, 32)),
  backendRequests: finite,
  backendFailures: finite,
  /** Children that died. */
  restarts: whole(0),
})
export type ObservedSpan = Fitting<typeof span>

const probed = Type.Object({
  /** For so long it was wrong each time; 0: it was right, the last time. */
  wrongMs: whole(0),
  reason: orNull(shortText),
})
export type Probed = Fitting<typeof probed>

export const observedParts = {
  group: whole(1),
  session: shortText,
  /** All that is known; else what came since. */
  isWhole: flag,
  spans: list(span, spansMost),
  /** In the order of the order's; null: none was sent yet. */
  probes: list(orNull(probed), probesMost),
}

export const observed = Type.Object({ ...envelope('observed'), ...observedParts })
export type Observed = Fitting<typeof observed>
