/**
 * A locked agent's report about its cache, from which an unlock starts. It is stored in the agent's row, so every part is bounded.
 * Ownership is given as it will be after the unlock.
 */
import { Type } from 'typebox'
import { flag, list, matching, orNull, whole, type Fitting } from '../resources/json-fields.js'
import { takeover } from './takeover.js'

/** A cache holds a few dozen; even with the longest names these limits stay far below the message limit. */
export const maxHeldVcls = 500
export const maxHeldParams = 200
export const maxHeldBackends = 500

/** A name as the cache itself accepts it (mgt_vcl.c), or `<VCL>.<backend>`. */
const name = matching(/^[^\p{Cc}\p{Cs}]{1,400}$/u, 'a name')
const value = matching(/^[^\p{Cc}\p{Cs}]{0,1024}$/u, 'a value of at most 1024 characters')

const heldVcl = Type.Object({
  name,
  active: flag,
  labelOf: orNull(name),
  /** Loaded by the agent for the coordinator that will unlock it. */
  ours: flag,
})
export type HeldVcl = Fitting<typeof heldVcl>

export const heldCache = Type.Object({
  childRunning: flag,
  vcls: list(heldVcl, maxHeldVcls),
  /** Number of VCLs that exceed the list's limit. */
  omittedVcls: whole(0, 1_000_000),
  takeover,
  /** The VCL that the cache served before this agent has already been replaced. */
  takenOver: flag,
  /** Parameters set by the agent. */
  params: list(Type.Object({ name, value }), maxHeldParams),
  /** `<VCL>.<backend>`: backends whose health the agent has set. */
  backends: list(name, maxHeldBackends),
})
export type HeldCache = Fitting<typeof heldCache>
