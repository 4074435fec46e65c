/** Finds a path's target without the router: by template in all APIs, else in the API on whose ground it lies. */
import type { Target } from './dispatch.js'

/** An API as the router has it. */
export interface MountedApi {
  /** Below which an unknown path is this API's to refuse. */
  readonly ground: string
  readonly targets: readonly Target[]
  /** Its answer to a path that it does not have. */
  readonly unknown: Target
}

export function prepareTargets(apis: readonly MountedApi[]): (path: string) => Target {
  const patterns = apis
    .flatMap(({ targets }) => targets)
    .map((target) => ({ target, pattern: toPattern(target.template) }))
    // As the router does: `/cache/{id}/status` before `/cache/{page}/{items}`.
    .toSorted((a, b) => countParameters(a.target) - countParameters(b.target))
  const grounds = apis.toSorted((a, b) => b.ground.length - a.ground.length)
  return (path) => {
    const known = patterns.find(({ pattern }) => pattern.test(path))
    const owner = grounds.find(({ ground }) => path === ground || path.startsWith(`${ground}/`))
    const target = known?.target ?? (owner ?? grounds.at(-1))?.unknown
    if (!target) throw new Error('a server without any API')
    return target
  }
}

function toPattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
}

function countParameters({ template }: Target): number {
  return template.split('{').length
}
