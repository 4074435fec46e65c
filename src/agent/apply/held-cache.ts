/** What a locked agent reports about its cache, so that users see in advance what an unlock would change. Pure. */
import type { EngineInventory } from '../../vcl/engine-inventory.js'
import type { Takeover } from '../../vcl/takeover.js'
import {
  maxHeldBackends,
  maxHeldParams,
  maxHeldVcls,
  type HeldCache,
} from '../../vcl/held-cache.js'
import type { AgentRecord } from '../agent-record.js'

/** VCL that an earlier coordinator loaded is unmanaged after the unlock. */
export function describeHeld(
  record: AgentRecord,
  { childRunning, vcls }: EngineInventory,
  takeover: Takeover,
): HeldCache {
  const isSame = record.seenCoordinatorId === record.coordinatorId
  const ours = new Set(isSame ? record.ours : [])
  const { params, backends } = record.settings
  return {
    childRunning,
    vcls: vcls.slice(0, maxHeldVcls).map((vcl) => ({ ...vcl, ours: ours.has(vcl.name) })),
    omittedVcls: Math.max(0, vcls.length - maxHeldVcls),
    takeover,
    takenOver: isSame && record.takenOver,
    params: params.slice(0, maxHeldParams).map(({ name, value }) => ({ name, value })),
    backends: backends.slice(0, maxHeldBackends),
  }
}
