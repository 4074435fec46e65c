/** The views, each in its own folder and loaded when first shown. Adding a view takes one line here. */
import type { ComponentType } from 'preact'
import type { PermissionType } from '../resources/permission.js'
import type { IconName } from './parts/icon.js'

export interface ViewProps {
  /** Parameters of the path, decoded: `id` for `/caches/:id`. */
  readonly params: Readonly<Record<string, string>>
}

export interface ViewEntry {
  /** For example `/caches/:id`; a view in the menu has no parameters. */
  readonly path: string
  /** The permission to read that the view needs; it is hidden from users without it. Null: none. */
  readonly needs: PermissionType | null
  readonly load: () => Promise<{ readonly View: ComponentType<ViewProps> }>
  /** Its entry in the navigation, in the order of this list; paths below it are highlighted there too. */
  readonly menu?: { readonly title: string; readonly icon: IconName }
  /** Placeholder of the search box while this view is shown; the view filters by `useSearchText`. */
  readonly search?: string
}

export const views: readonly ViewEntry[] = [
  view('/overview', null, () => import('./views/overview/overview.js'), {
    menu: { title: 'Overview', icon: 'overview' },
  }),
  // Fleet
  view('/caches', 'agent', () => import('./views/caches/caches.js'), {
    menu: { title: 'Caches', icon: 'cache' },
    search: 'Search caches',
  }),
  view('/caches/:id/:section?', 'agent', () => import('./views/cache/cache.js')),
  // Deployed objects
  view('/groups', 'vclgroup', () => import('./views/groups/groups.js'), {
    menu: { title: 'Groups', icon: 'group' },
    search: 'Search groups',
  }),
  view('/groups/:id/:section?', 'vclgroup', () => import('./views/group/group.js')),
  view('/backends', 'agent', () => import('./views/backends/backends.js'), {
    menu: { title: 'Backends', icon: 'backend' },
    search: 'Search backends',
  }),
  view('/deployments', 'deployment', () => import('./views/deployments/deployments.js'), {
    menu: { title: 'Deployments', icon: 'deployment' },
    search: 'Search deployments',
  }),
  view('/deployments/:id', 'deployment', () => import('./views/deployments/deployment.js')),
  view('/domains', 'domain', () => import('./views/domains/domains.js'), {
    menu: { title: 'Domains', icon: 'domain' },
    search: 'Search domains',
  }),
  view('/domains/:id', 'domain', () => import('./views/domains/domain.js')),
  view('/certificates', 'certificate', () => import('./views/certificates/certificates.js'), {
    menu: { title: 'Certificates', icon: 'certificate' },
    search: 'Search certificates',
  }),
  view('/certificates/:id', 'certificate', () => import('./views/certificates/certificate.js')),
  view('/tags', 'tag', () => import('./views/tags/tags.js'), {
    menu: { title: 'Tags', icon: 'tag' },
    search: 'Search tags',
  }),
  view('/tags/:id', 'tag', () => import('./views/tags/tag.js')),
  // VCL
  view('/files', 'file', () => import('./views/files/files.js'), {
    menu: { title: 'VCL', icon: 'file' },
    search: 'Search files',
  }),
  view('/files/:id/:section?', 'file', () => import('./views/file/file.js')),
  // Invalidations
  view('/invalidations', 'invalidation', () => import('./views/invalidations/invalidations.js'), {
    menu: { title: 'Invalidations', icon: 'invalidation' },
    search: 'Search invalidations',
  }),
  view(
    '/invalidations/new',
    'invalidation',
    () => import('./views/invalidations/new-invalidation.js'),
  ),
  view('/invalidations/:id', 'invalidation', () => import('./views/invalidation/invalidation.js')),
  // Graphs
  view('/graphs', 'stats', () => import('./views/graphs/graphs.js'), {
    menu: { title: 'Graphs', icon: 'graph' },
  }),
  // Traffic
  view('/log', 'log', () => import('./views/log/log.js'), { menu: { title: 'Log', icon: 'log' } }),
  view('/log/top', 'log', () => import('./views/log/top.js')),
  // Administration
  view('/administration', null, () => import('./views/administration/own-account.js'), {
    menu: { title: 'Administration', icon: 'administration' },
  }),
  view(
    '/administration/organizations',
    'org',
    () => import('./views/administration/organizations.js'),
    { search: 'Search organizations' },
  ),
  view('/administration/accounts', 'account', () => import('./views/administration/accounts.js'), {
    search: 'Search accounts',
  }),
  view('/administration/users', 'account', () => import('./views/administration/users.js'), {
    search: 'Search users',
  }),
  view('/administration/users/:id', 'account', () => import('./views/administration/user.js')),
  view('/administration/sessions', 'session', () => import('./views/administration/sessions.js'), {
    search: 'Search sessions',
  }),
  view('/administration/tokens', 'session', () => import('./views/administration/tokens.js'), {
    search: 'Search API tokens',
  }),
  view('/administration/providers', 'idp', () => import('./views/administration/providers.js'), {
    search: 'Search identity providers',
  }),
  view('/administration/webhooks', 'webhook', () => import('./views/administration/webhooks.js'), {
    search: 'Search webhooks',
  }),
  view(
    '/administration/webhooks/:id',
    'webhook',
    () => import('./views/administration/webhook.js'),
  ),
  view(
    '/administration/join-tokens',
    'agent',
    () => import('./views/administration/join-tokens.js'),
    { search: 'Search join tokens' },
  ),
  view('/administration/api-log', 'apilog', () => import('./views/administration/api-log.js'), {
    search: 'Search calls, accounts, trace ids',
  }),
]

function view(
  path: string,
  needs: ViewEntry['needs'],
  load: ViewEntry['load'],
  rest: Pick<ViewEntry, 'menu' | 'search'> = {},
): ViewEntry {
  return { path, needs, load, ...rest }
}
