/** Where an object of any type is shown; null: nowhere by itself. */
import type { IconName } from '../../parts/icon.js'

export interface Located {
  readonly href: string
  readonly icon: IconName
  /** "Cache". */
  readonly noun: string
}

const places: Readonly<Record<string, { readonly home: string } & Omit<Located, 'href'>>> = {
  agent: { home: '/caches', icon: 'cache', noun: 'Cache' },
  vclgroup: { home: '/groups', icon: 'group', noun: 'Group' },
  deployment: { home: '/deployments', icon: 'deployment', noun: 'Deployment' },
  domain: { home: '/domains', icon: 'domain', noun: 'Domain' },
  certificate: { home: '/certificates', icon: 'certificate', noun: 'Certificate' },
  tag: { home: '/tags', icon: 'tag', noun: 'Tag' },
  file: { home: '/files', icon: 'file', noun: 'File' },
  invalidation: { home: '/invalidations', icon: 'invalidation', noun: 'Invalidation' },
}

export function locateObject({
  type,
  id,
}: {
  readonly type: string
  readonly id: number
}): Located | null {
  const place = Object.hasOwn(places, type) ? places[type] : undefined
  if (!place) return null
  const { home, ...rest } = place
  return { ...rest, href: `${home}/${id}` }
}
