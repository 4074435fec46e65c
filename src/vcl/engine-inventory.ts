/** The actual contents of a cache as listed by `vcl.list`, to compare with the desired state. */

export interface LoadedVcl {
  readonly name: string
  readonly active: boolean
  /** The VCL to which a label refers; null if this is a VCL itself. */
  readonly labelOf: string | null
}

export interface EngineInventory {
  readonly childRunning: boolean
  /** A discarded VCL is still listed, because something holds a reference to it. */
  readonly isReleasing?: boolean
  /** Excludes discarded VCLs, whose names can no longer be addressed. */
  readonly vcls: readonly LoadedVcl[]
}
