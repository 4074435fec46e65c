/** Finds a path's target without the router: by template in all APIs, else in the API on whose ground it lies. */
import type { Target } from './dispatch.js'

/** An API as the router has it. */
export interface MountedApi {
  readonly grounds: readonly Ground[]
  readonly targets: readonly Target[]
}

/** Below which an unknown path is the API's to refuse. */
export interface Ground {
  readonly path: string
  /** Its answer to a path that it does not have. */
  readonly unknown: Target
}

export function prepareTargets(apis: readonly MountedApi[]): (path: string) => Target {
  const patterns = apis
    .flatMap(({ targets }) => targets)
    .map((target) => ({ target, pattern: toPattern(target.template) }))
    // As the router does: `/cache/{id}/status` before `/cache/{page}/{items}`.
    .toSorted((a, b) => countParameters(a.target) - countParameters(b.target))
  const grounds = apis
    .flatMap((api) => api.grounds)
    .toSorted((a, b) => b.path.length - a.path.length)
  return (path) => {
    const known = patterns.find(({ pattern }) => pattern.test(path))
    const owner = grounds.find((ground) => path === ground.path || isBelow(path, ground.path))
    const target = known?.target ?? (owner ?? grounds.at(-1))?.unknown
    if (!target) throw new Error('a server without any API')
    return target
  }
}

export function isBelow(path: string, ground: string): boolean {
  return path.startsWith(`${ground}/`)
}

function toPattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
}

function countParameters({ template }: Target): number {
  return template.split('{').length
}
