/** The check of what a locked agent tells of its cache: it is kept in the agent's row, so everything in it has a bound. */
import type { HeldCache, HeldVcl } from '../vcl/unlock-difference.js'
import {
  flag,
  list,
  matching,
  oneOf,
  orNull,
  record,
  whole,
  type Check,
  type Shape,
} from './checks.js'

/** A cache holds some dozens; together with the longest names they stay far below the limit of a message. */
export const heldVclsMost = 500
export const heldParamsMost = 200
export const heldBackendsMost = 500

/** As the cache itself takes it for a name (mgt_vcl.c), or `<VCL>.<backend>`. */
const name = matching(/^[^\p{Cc}\p{Cs}]{1,400}$/u, 'a name')
const value = matching(/^[^\p{Cc}\p{Cs}]{0,1024}$/u, 'a value of at most 1024 characters')

export const heldCache: Check = record({
  childRunning: flag,
  vcls: list(
    record({ name, active: flag, labelOf: orNull(name), ours: flag } satisfies Shape<HeldVcl>),
    heldVclsMost,
  ),
  omittedVcls: whole(0, 1_000_000),
  takeover: oneOf(['registration', 'first-deploy', 'adopt'] satisfies HeldCache['takeover'][]),
  takenOver: flag,
  params: list(record({ name, value }), heldParamsMost),
  backends: list(name, heldBackendsMost),
} satisfies Shape<HeldCache>)
