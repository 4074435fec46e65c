/** `/vclgroups`, and what is asked about one of them. */
import type { Reference } from '../../resources/resource.js'

/** A file at a version. */
export interface Pin extends Reference {
  readonly version: number
}

interface DomainReference {
  readonly id: number
  readonly fqdn: string
}

export interface Place {
  readonly agent: Reference
  readonly state: 'wanted' | 'applying' | 'applied' | 'failed'
  readonly revision: number | null
  readonly error: string | null
  readonly deployedAt: string | null
}

export interface Group extends Reference {
  readonly organization: Reference | null
  readonly root: boolean
  /** Changed in the console, only read here. */
  readonly console: boolean
  readonly keepOnFailure: boolean
  /** Null: a group of the console without VCL. A version only when one is pinned. */
  readonly mainVCL: (Reference & { readonly version?: number }) | null
  readonly includes: readonly Reference[]
  readonly domains: readonly DomainReference[]
  readonly deployments: readonly Reference[]
  /** The wish. */
  readonly deployed: boolean
  readonly state: number
  readonly stateName: string
  /** 0: before the first switch. */
  readonly revision: number
  readonly agentStates: readonly Place[]
  readonly staged: Staged | null
  readonly wish: Wish | null
  readonly managedBy: string | null
  readonly created: string
  readonly updated: string
}

/** The files of a deploy, at the versions that it pinned. */
export interface Pins {
  readonly mainVCL: Pin
  readonly includes: readonly Pin[]
}

export interface Staged extends Pins {
  readonly tags: readonly Reference[]
  readonly domains: readonly DomainReference[]
}

/** What the newest deploy pinned. */
export interface Wish extends Pins {
  readonly domains: readonly DomainReference[]
  readonly deployments: readonly { readonly id: number }[]
  /** It waits for agents. */
  readonly pending: boolean
}

/** `GET …/history`, newest first. */
export interface HistoryEntry extends Pins {
  /** Null: it failed. */
  readonly revision: number | null
  readonly at: string
  readonly account: string
  readonly action: string
  /** `ok`, or the error text. */
  readonly result: string
}

/** `GET …/placement`: one for each agent. */
export interface PlacementReason {
  readonly agent: Reference
  readonly deployment: Reference | null
  readonly chosen: boolean
  readonly reason: string
}

/** `POST /vclgroups/placement`. */
export interface ForeseenPlaces {
  readonly agents: readonly {
    readonly agent: Reference
    /** Null: the group leaves it. */
    readonly deployment: string | null
    /** The group is there already. */
    readonly held: boolean
    readonly reason: string | null
  }[]
  /** Why a deploy would be refused or wait now. */
  readonly shortage: string | null
}

/** `GET …/routing`. */
export interface AgentRouting {
  readonly agent: Reference
  readonly source: string
}

/** Of `/files`, what a group tells of its files. */
export interface GroupFile extends Pin {
  readonly organization: Reference | null
  /** 1 main, 2 include, 3 other. */
  readonly fileType: 1 | 2 | 3
}
