/**
 * What an agent tells of its cache while it is locked: an unlock begins with it. It is kept in the agent's row, so everything in it has a
 * bound. What counts as the agent's own is judged as it will be after the unlock.
 */
import { Type } from 'typebox'
import { flag, list, matching, orNull, whole, type Fitting } from '../resources/json-fields.js'
import { takeover } from './takeover.js'

/** A cache holds some dozens; together with the longest names they stay far below the limit of a message. */
export const heldVclsMost = 500
export const heldParamsMost = 200
export const heldBackendsMost = 500

/** As the cache itself takes it for a name (mgt_vcl.c), or `<VCL>.<backend>`. */
const name = matching(/^[^\p{Cc}\p{Cs}]{1,400}$/u, 'a name')
const value = matching(/^[^\p{Cc}\p{Cs}]{0,1024}$/u, 'a value of at most 1024 characters')

const heldVcl = Type.Object({
  name,
  active: flag,
  labelOf: orNull(name),
  /** The agent loaded it, for the coordinator that will unlock it. */
  ours: flag,
})
export type HeldVcl = Fitting<typeof heldVcl>

export const heldCache = Type.Object({
  childRunning: flag,
  vcls: list(heldVcl, heldVclsMost),
  /** VCLs that the list has no room for. */
  omittedVcls: whole(0, 1_000_000),
  takeover,
  /** What the cache served before this agent has given way already. */
  takenOver: flag,
  /** Parameters that the agent has set. */
  params: list(Type.Object({ name, value }), heldParamsMost),
  /** `<VCL>.<backend>`: backends whose health the agent has set. */
  backends: list(name, heldBackendsMost),
})
export type HeldCache = Fitting<typeof heldCache>
