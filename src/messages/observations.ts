/** Observations of a group by agents during its rollout: orders are renewed repeatedly, reports are spans that can be summed. */
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

/** 15 minutes, with one span per second. */
const maxSpans = 1_000
const maxProbes = 20

const probeOrder = Type.Object({
  path: shortText,
  host: shortText,
  status: whole(100, 599),
  /** Null: any. */
  bodyContains: orNull(shortText),
  everyMs: whole(1_000, 3_600_000),
})
export type ProbeOrder = Fitting<typeof probeOrder>

/** Observes this group for `forMs`; renewed before it expires. */
export const observeOrder = Type.Object({
  group: whole(1),
  /** The requesting session: a new session receives everything that is known. */
  session: shortText,
  everyMs: whole(1_000, 60_000),
  forMs: whole(0, 600_000),
  probes: list(probeOrder, maxProbes),
})
export type ObserveOrder = Fitting<typeof observeOrder>

export const observe = Type.Object({ ...envelope('observe'), ...observeOrder.properties })

const span = Type.Object({
  /** The VCL that served the group during the whole span, by its name on the cache. */
  program: text,
  /** Milliseconds since the end of the span. */
  ageMs: whole(0),
  seconds: finite,
  /** Requests, errors, hits, misses, then counts by time to the first byte; null: the log was not read. */
  figures: orNull(list(finite, 32)),
  backendRequests: finite,
  backendFailures: finite,
  /** How often the cache's child process died. */
  restarts: whole(0),
})
export type ObservedSpan = Fitting<typeof span>

const probed = Type.Object({
  /** How long every probe has failed; 0: the last one succeeded. */
  wrongMs: whole(0),
  reason: orNull(shortText),
})
export type Probed = Fitting<typeof probed>

export const observedParts = {
  group: whole(1),
  session: shortText,
  /** True: everything that is known. False: only what is new. */
  isWhole: flag,
  spans: list(span, maxSpans),
  /** In the order of the probes in the order; null: not sent yet. */
  probes: list(orNull(probed), maxProbes),
}

export const observed = Type.Object({ ...envelope('observed'), ...observedParts })
export type Observed = Fitting<typeof observed>
