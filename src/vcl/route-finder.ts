/** Which group answers for a Host, by the routes of a routing VCL and the rules of its text (routing.ts). */
import { wildcardBase } from '../resources/domain-name.js'
import type { Route } from './routing.js'

export type FindRoute = (host: string) => Route | null

/** As the client sent it. A look-up costs as many steps as the name has labels. */
export function createRouteFinder(routes: readonly Route[]): FindRoute {
  const exact = new Map<string, Route>()
  const wildcards = new Map<string, Route>()
  for (const route of routes) {
    const base = wildcardBase(route.fqdn)
    const [names, name] = base === null ? [exact, route.fqdn] : [wildcards, base]
    if (!names.has(name)) names.set(name, route)
  }
  return (host) => {
    const name = host.toLowerCase().replace(/\.?(?::\d*)?$/, '')
    if (!hostName.test(name)) return null
    const found = exact.get(name)
    if (found) return found
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      const route = wildcards.get(name.slice(dot + 1))
      if (route) return route
    }
    return null
  }
}

const hostName = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/
