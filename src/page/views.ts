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
  {
    path: '/caches/:id/:section?',
    needs: 'agent',
    load: () => import('./views/cache/cache.js'),
  },
  // What is deployed
  {
    path: '/groups',
    needs: 'vclgroup',
    load: () => import('./views/groups/groups.js'),
    menu: { title: 'Groups', icon: 'group' },
    search: 'Search groups',
  },
  {
    path: '/groups/:id/:section?',
    needs: 'vclgroup',
    load: () => import('./views/group/group.js'),
  },
  {
    path: '/deployments',
    needs: 'deployment',
    load: () => import('./views/deployments/deployments.js'),
    menu: { title: 'Deployments', icon: 'deployment' },
    search: 'Search deployments',
  },
  {
    path: '/deployments/:id',
    needs: 'deployment',
    load: () => import('./views/deployments/deployment.js'),
  },
  {
    path: '/domains',
    needs: 'domain',
    load: () => import('./views/domains/domains.js'),
    menu: { title: 'Domains', icon: 'domain' },
    search: 'Search domains',
  },
  { path: '/domains/:id', needs: 'domain', load: () => import('./views/domains/domain.js') },
  {
    path: '/tags',
    needs: 'tag',
    load: () => import('./views/tags/tags.js'),
    menu: { title: 'Tags', icon: 'tag' },
    search: 'Search tags',
  },
  { path: '/tags/:id', needs: 'tag', load: () => import('./views/tags/tag.js') },
  // VCL
  {
    path: '/files',
    needs: 'file',
    load: () => import('./views/files/files.js'),
    menu: { title: 'VCL', icon: 'file' },
    search: 'Search files',
  },
  { path: '/files/:id/:section?', needs: 'file', load: () => import('./views/file/file.js') },
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
  {
    path: '/administration',
    needs: null,
    load: () => import('./views/administration/own-account.js'),
    menu: { title: 'Administration', icon: 'administration' },
  },
  {
    path: '/administration/organizations',
    needs: 'org',
    load: () => import('./views/administration/organizations.js'),
    search: 'Search organizations',
  },
  {
    path: '/administration/accounts',
    needs: 'account',
    load: () => import('./views/administration/accounts.js'),
    search: 'Search accounts',
  },
  {
    path: '/administration/users',
    needs: 'account',
    load: () => import('./views/administration/users.js'),
    search: 'Search users',
  },
  {
    path: '/administration/users/:id',
    needs: 'account',
    load: () => import('./views/administration/user.js'),
  },
  {
    path: '/administration/sessions',
    needs: 'session',
    load: () => import('./views/administration/sessions.js'),
    search: 'Search sessions',
  },
  {
    path: '/administration/tokens',
    needs: 'session',
    load: () => import('./views/administration/tokens.js'),
    search: 'Search API tokens',
  },
  {
    path: '/administration/providers',
    needs: 'idp',
    load: () => import('./views/administration/providers.js'),
    search: 'Search identity providers',
  },
  {
    path: '/administration/join-tokens',
    needs: 'agent',
    load: () => import('./views/administration/join-tokens.js'),
    search: 'Search join tokens',
  },
  {
    path: '/administration/api-log',
    needs: 'apilog',
    load: () => import('./views/administration/api-log.js'),
    search: 'Search calls, accounts, trace ids',
  },
]
