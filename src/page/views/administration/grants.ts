/** Rules for grants: the meaning of the check boxes, and the calls that give a user these permissions. */
import type { Method } from '../../api/http.js'
import type { UserPermission } from '../../../resources/user-permission.js'
import {
  toPermissions,
  type Access,
  type Grants,
  type PermissionType,
} from '../../../resources/permission.js'

/** In display order. */
export const grantTypes: readonly { readonly type: PermissionType; readonly title: string }[] = [
  { type: 'agent', title: 'Caches and their agents' },
  { type: 'command', title: 'Commands to caches' },
  { type: 'stats', title: 'Statistics' },
  { type: 'log', title: 'Live log' },
  { type: 'logclient', title: 'Client addresses in the log' },
  { type: 'vclgroup', title: 'VCL groups' },
  { type: 'deployment', title: 'Deployments' },
  { type: 'domain', title: 'Domains' },
  { type: 'tag', title: 'Tags' },
  { type: 'file', title: 'Files' },
  { type: 'invalidation', title: 'Invalidations' },
  { type: 'org', title: 'Organizations' },
  { type: 'account', title: 'Accounts and users' },
  { type: 'perm', title: 'Permissions' },
  { type: 'session', title: 'Sessions and API tokens' },
  { type: 'idp', title: 'Identity providers' },
  { type: 'apilog', title: 'API log' },
  { type: 'webhook', title: 'Webhooks' },
  { type: 'certificate', title: 'Certificates' },
]

/** Returns the grants after a check box has changed: write includes read. */
export function setGrant(
  grants: Grants,
  type: PermissionType,
  access: Access,
  isOn: boolean,
): Grants {
  const { [type]: before, ...others } = grants
  if (isOn) return { ...others, [type]: before === 'write' ? 'write' : access }
  return access === 'write' && before !== undefined ? { ...others, [type]: 'read' } : others
}

/** Returns the grants after an undo: a type that someone changed since then keeps its value. */
export function revertGrants(
  now: Grants,
  { before, after }: { readonly before: Grants; readonly after: Grants },
): Grants {
  return Object.fromEntries(
    grantTypes.flatMap(({ type }) => {
      const grant = now[type] === after[type] ? before[type] : now[type]
      return grant === undefined ? [] : [[type, grant]]
    }),
  )
}

export interface GrantCall {
  readonly method: Method
  readonly path: string
  readonly body?: object
}

/** Plans the calls that give a user the wanted grants; removals come first. */
export function planGrantCalls(
  before: readonly Pick<UserPermission, 'id' | 'type' | 'write'>[],
  wanted: Grants,
  user: {
    readonly account: { readonly id: number }
    readonly organization: { readonly id: number }
  },
): readonly GrantCall[] {
  const taken = before
    .filter(({ type }) => wanted[type] === undefined)
    .map(({ id }) => ({ method: 'DELETE', path: `/permissions/${id}` }) as const)
  const changed = before
    .filter(({ type, write }) => wanted[type] !== undefined && (wanted[type] === 'write') !== write)
    .map(
      ({ id, write }) =>
        ({ method: 'PUT', path: `/permissions/${id}`, body: { write: !write } }) as const,
    )
  const given = toPermissions(wanted)
    .filter(({ type }) => !before.some((one) => one.type === type))
    .map((one) => {
      const { account, organization } = user
      const owner = { account: { id: account.id }, organization: { id: organization.id } }
      return { method: 'POST', path: '/permissions', body: { ...one, ...owner } } as const
    })
  return [...taken, ...changed, ...given]
}
