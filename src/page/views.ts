/** The views, each in its folder and loaded when it is first shown. A new one is a line here. */
import type { ComponentType } from 'preact'
import type { PermissionType } from './api/whoami.js'
import type { IconName } from './parts/icon.js'

export interface ViewProps {
  /** Of the path: `id` of `/caches/:id`, decoded. */
  readonly params: Readonly<Record<string, string>>
}

export interface ViewEntry {
  /** `/caches/:id`; of a view in the menu without parameters. */
  readonly path: string
  /** What the person must be able to read; others do not see it. Null: nothing. */
  readonly needs: PermissionType | null
  readonly load: () => Promise<{ readonly View: ComponentType<ViewProps> }>
  /** Its place in the navigation, in the order of this list; the paths below it mark it too. */
  readonly menu?: { readonly title: string; readonly icon: IconName }
  /** What the search box says while this view is shown: it filters by `useSearchText`. */
  readonly search?: string
}

export const views: readonly ViewEntry[] = [
  // Fleet
  {
    path: '/caches',
    needs: 'agent',
    load: () => import('./views/caches/caches.js'),
    menu: { title: 'Caches', icon: 'cache' },
    search: 'Search caches',
  },
  // What is deployed
  // VCL
  // Invalidations
  {
    path: '/invalidations',
    needs: 'invalidation',
    load: () => import('./views/invalidations/invalidations.js'),
    menu: { title: 'Invalidations', icon: 'invalidation' },
    search: 'Search invalidations',
  },
  {
    path: '/invalidations/new',
    needs: 'invalidation',
    load: () => import('./views/invalidations/new-invalidation.js'),
  },
  {
    path: '/invalidations/:id',
    needs: 'invalidation',
    load: () => import('./views/invalidation/invalidation.js'),
  },
  // Graphs
  {
    path: '/graphs',
    needs: 'stats',
    load: () => import('./views/graphs/graphs.js'),
    menu: { title: 'Graphs', icon: 'graph' },
  },
  // Administration
]
