/** Which group a request of this cache was for: by the Host that the client sent, and what routes at that moment. */
import { createRouteFinder, type FindRoute } from '../../vcl/route-finder.js'
import { readRoutes } from '../../vcl/routing.js'
import { groupIdOf, type DesiredEngine } from '../../vcl/desired-engine.js'

export interface ServedGroup {
  readonly groupId: number
  /** The configured domain; null: a root group's. */
  readonly fqdn: string | null
}

interface RootGroup {
  readonly groupId: number
  /** One that was adopted keeps the name that it had. */
  readonly program: string
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
  #root: RootGroup | null = null
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
    const routes = desired === null ? null : await this.#readRoutes(desired)
    this.#find = routes === null ? null : createRouteFinder(routes)
    this.#root = findRoot(desired)
    this.#served = new Set([
      ...(this.#root === null ? [] : [`GROUP.${this.#root.groupId}`]),
      ...(routes ?? []).flatMap(({ groupId, fqdn }) => [
        `GROUP.${groupId}`,
        `DOMAIN.${groupId}:${fqdn}`,
      ]),
    ])
    this.#active = active
    return true
  }

  /** By the names of their figures; another set when they change. */
  get served(): ReadonlySet<string> {
    return this.#served
  }

  /** Whether it is of the groups and domains that this cache answers for by now. */
  isServed(subject: string): boolean {
    return this.#served.has(subject)
  }

  /** What VCL of these groups is called here, as a regular expression. */
  namesOf(groups: readonly number[]): string {
    const ours = `^cf-(${groups.join('|')})-`
    if (!this.#root || !groups.includes(this.#root.groupId)) return ours
    return `${ours}|^${this.#root.program.replaceAll(/\W/g, '[$&]')}( |$)`
  }

  /** Null: of no group of ours. */
  groupOf(host: string): ServedGroup | null {
    if (this.#root) return { groupId: this.#root.groupId, fqdn: null }
    const route = this.#find?.(host)
    return route ? { groupId: route.groupId, fqdn: route.fqdn } : null
  }

  /** Null: nothing routes there. */
  async #readRoutes({ active, load }: DesiredEngine) {
    const program = load.find(({ name }) => name === active)
    if (program === undefined || !active.startsWith('cf-r-')) return null
    return readRoutes(await this.#options.readSource(program.sha))
  }
}

/** Null: no group has the whole cache. */
function findRoot(desired: DesiredEngine | null): RootGroup | null {
  if (desired === null) return null
  const { active: program, rootGroup } = desired
  const groupId = rootGroup ?? groupIdOf(program)
  return groupId === null ? null : { groupId, program }
}
