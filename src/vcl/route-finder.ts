/** Finds the group that serves a Host, by the routes and rules of a routing VCL (routing.ts). */
import { wildcardBase } from '../resources/domain-name.js'
import type { Route } from './routing.js'

export type FindRoute = (host: string) => Route | null

/** Takes the Host as the client sent it. The cost of a look-up is linear in the number of labels of the name. */
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
