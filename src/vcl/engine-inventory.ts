/** What a cache holds, as `vcl.list` tells it: the actual side of "desired against actual". */

export interface LoadedVcl {
  readonly name: string
  readonly active: boolean
  /** The VCL that a label stands for; null for a VCL of its own. */
  readonly labelOf: string | null
}

export interface EngineInventory {
  readonly childRunning: boolean
  /** A VCL that was discarded is still listed: something holds it. */
  readonly isReleasing?: boolean
  /** Without discarded rows: their names can no longer be addressed. */
  readonly vcls: readonly LoadedVcl[]
}
