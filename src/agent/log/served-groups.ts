/** Which group served a request of this cache: determined by the client's Host and the current routing VCL. */
import { createRouteFinder, type FindRoute } from '../../vcl/route-finder.js'
import { readRoutes } from '../../vcl/routing.js'
import { groupIdOf, type DesiredEngine } from '../../vcl/desired-engine.js'

export interface ServedGroup {
  readonly groupId: number
  /** The configured domain; null for a root group. */
  readonly fqdn: string | null
}

interface RootGroup {
  readonly groupId: number
  /** An adopted VCL keeps its name. */
  readonly program: string
}

interface ServedGroupsOptions {
  /** The current desired state of the cache; null: nothing managed. */
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
   * Must be called before lines are read: routes change only with deploys. Returns true when another program serves now.
   * Rejects when the routing VCL is unavailable.
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

  /** Names of the figures' subjects; a new set when they change. */
  get served(): ReadonlySet<string> {
    return this.#served
  }

  /** True when the subject is a group or domain that this cache serves now. */
  isServed(subject: string): boolean {
    return this.#served.has(subject)
  }

  /** A regular expression for the VCL names of these groups on this cache. */
  namesOf(groups: readonly number[]): string {
    const ours = `^cf-(${groups.join('|')})-`
    if (!this.#root || !groups.includes(this.#root.groupId)) return ours
    return `${ours}|^${this.#root.program.replaceAll(/\W/g, '[$&]')}( |$)`
  }

  /** Null: no group of ours serves this host. */
  groupOf(host: string): ServedGroup | null {
    if (this.#root) return { groupId: this.#root.groupId, fqdn: null }
    const route = this.#find?.(host)
    return route ? { groupId: route.groupId, fqdn: route.fqdn } : null
  }

  /** Null: the active VCL is no routing VCL. */
  async #readRoutes({ active, load }: DesiredEngine) {
    const program = load.find(({ name }) => name === active)
    if (program === undefined || !active.startsWith('cf-r-')) return null
    return readRoutes(await this.#options.readSource(program.sha))
  }
}

/** Null: no group owns the whole cache. */
function findRoot(desired: DesiredEngine | null): RootGroup | null {
  if (desired === null) return null
  const { active: program, rootGroup } = desired
  const groupId = rootGroup ?? groupIdOf(program)
  return groupId === null ? null : { groupId, program }
}
