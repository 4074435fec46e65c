/** `/files`: texts with their versions, and the groups that use them. */
import type { Reference } from '../../resources/resource.js'

export interface FleetFile extends Reference {
  readonly organization: Reference | null
  readonly contentType: string
  /** The source is base64. */
  readonly encoded: boolean
  /** Main, include, other. */
  readonly fileType: 1 | 2 | 3
  readonly sha: string
  readonly version: number
  readonly managedBy: string | null
  readonly created: string
  readonly updated: string
}

export interface WholeFile extends FleetFile {
  readonly source: string
}

export interface FileVersion {
  readonly version: number
  readonly encoded: boolean
  readonly sha: string
  /** Who made it. */
  readonly account: string
  readonly created: string
}

export interface WholeVersion extends FileVersion {
  readonly source: string
}

/** A VCL group as far as its files see it. */
export interface FileUser extends Reference {
  readonly root: boolean
  readonly mainVCL: Reference & { readonly version?: number }
  readonly includes: readonly Reference[]
  readonly stateName: string
  readonly agentStates: readonly {
    readonly agent: Reference
    readonly state: string
    readonly revision: number | null
  }[]
}

/** What a group was at one of its revisions; null: a deploy that failed. */
export interface FileUse {
  readonly revision: number | null
  readonly mainVCL: { readonly id: number; readonly version: number }
  readonly includes: readonly { readonly id: number; readonly version: number }[]
}
