/** Returns the view of an object of any type; null: it has no view of its own. */
import type { OverviewProblem } from '../../../resources/overview.js'

const places = {
  agent: { home: '/caches', icon: 'cache' },
  vclgroup: { home: '/groups', icon: 'group' },
  /** Identified by the id of its group. */
  stage: { home: '/groups', icon: 'group', section: '/stage' },
  deployment: { home: '/deployments', icon: 'deployment' },
  domain: { home: '/domains', icon: 'domain' },
  certificate: { home: '/certificates', icon: 'certificate' },
  webhook: { home: '/administration/webhooks', icon: 'administration' },
  tag: { home: '/tags', icon: 'tag' },
  file: { home: '/files', icon: 'file' },
  invalidation: { home: '/invalidations', icon: 'invalidation' },
} as const

interface Located {
  readonly href: string
  readonly icon: Place['icon']
}

interface Place {
  readonly home: string
  readonly icon: (typeof places)[keyof typeof places]['icon']
  readonly section?: string
}

export function locateObject({
  type,
  id,
}: {
  readonly type: string
  readonly id: number
}): Located | null {
  if (!isPlaced(type)) return null
  const { home, icon, section = '' }: Place = places[type]
  return { href: `${home}/${id}${section}`, icon }
}

/** A rollout is shown in the deploy view of its group, which its problems name. */
export function locateProblem({
  object,
  objects,
}: Pick<OverviewProblem, 'object' | 'objects'>): Located | null {
  const place = [object, ...objects].map(locateObject).find((one) => one !== null) ?? null
  const isRollout = object.type === 'rollout'
  return place && isRollout ? { ...place, href: `${place.href}/deploy` } : place
}

function isPlaced(type: string): type is keyof typeof places {
  return Object.hasOwn(places, type)
}
