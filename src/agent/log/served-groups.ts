/** Which group a request of this cache was for: by the Host that the client sent, and what routes at that moment. */
import { createRouteFinder, type FindRoute } from '../../vcl/route-finder.js'
import { readRoutes } from '../../vcl/routing.js'
import type { DesiredEngine } from '../../vcl/desired-engine.js'

export interface ServedGroup {
  readonly groupId: number
  /** The configured domain; null: a root group's. */
  readonly fqdn: string | null
}

interface ServedGroupsOptions {
  /** What the cache holds by now; null: nothing of ours. */
  readonly readDesired: () => DesiredEngine | null
  readonly readSource: (sha: string) => Promise<string>
}

export class ServedGroups {
  readonly #options: ServedGroupsOptions
  #active = ''
  #find: FindRoute | null = null
  #rootId: number | null = null
  /** `GROUP.<id>` and `DOMAIN.<id>:<fqdn>`. */
  #served: ReadonlySet<string> = new Set()

  constructor(options: ServedGroupsOptions) {
    this.#options = options
  }

  /**
   * To be called before lines are read: routes change with deploys only. Answers whether it is another program that serves.
   * Rejects where the routing VCL is not to be had.
   */
  async refresh(): Promise<boolean> {
    const desired = this.#options.readDesired()
    const active = desired?.active ?? ''
    if (active === this.#active) return false
    const program = desired?.load.find(({ name }) => name === active)
    const isRouting = active.startsWith('cf-r-') && program !== undefined
    const text = isRouting ? await this.#options.readSource(program.sha) : null
    const routes = text === null ? [] : readRoutes(text)
    this.#find = text === null ? null : createRouteFinder(routes)
    this.#rootId = readGroupId(active)
    this.#served = new Set([
      ...(this.#rootId === null ? [] : [`GROUP.${this.#rootId}`]),
      ...routes.flatMap(({ groupId, fqdn }) => [`GROUP.${groupId}`, `DOMAIN.${groupId}:${fqdn}`]),
    ])
    this.#active = active
    return true
  }

  /** Whether it is of the groups and domains that this cache answers for by now. */
  isServed(subject: string): boolean {
    return this.#served.has(subject)
  }

  /** Null: of no group of ours. */
  groupOf(host: string): ServedGroup | null {
    if (this.#rootId !== null) return { groupId: this.#rootId, fqdn: null }
    const route = this.#find?.(host)
    return route ? { groupId: route.groupId, fqdn: route.fqdn } : null
  }
}

/** Of a program's name, `cf-12-0f3a2b1c-1`; null: it was adopted and keeps its name, or is none of a group. */
function readGroupId(program: string): number | null {
  const id = /^cf-(\d{1,15})-/.exec(program)?.[1]
  return id === undefined ? null : Number(id)
}
