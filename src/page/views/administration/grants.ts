/** Decisions about grants: what a grid of check boxes means, and which calls make a user's permissions be that. */
import type { Method } from '../../api/http.js'
import type { Permission } from '../../api/permission.js'
import type { PermissionType } from '../../../resources/permission.js'

export type Access = 'read' | 'write'

/** Write implies read. */
export type Grants = Readonly<Partial<Record<PermissionType, Access>>>

/** In the order in which they are shown. */
export const grantTypes: readonly { readonly type: PermissionType; readonly title: string }[] = [
  { type: 'agent', title: 'Caches and their agents' },
  { type: 'command', title: 'Commands to caches' },
  { type: 'stats', title: 'Statistics' },
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
]

type Given = readonly {
  readonly type: PermissionType
  readonly read: boolean
  readonly write: boolean
}[]

export function toGrants(permissions: Given): Grants {
  return Object.fromEntries(
    permissions
      .filter(({ read, write }) => read || write)
      .map(({ type, write }) => [type, write ? 'write' : 'read']),
  )
}

export function toPermissions(grants: Grants): Given {
  return grantTypes
    .filter(({ type }) => grants[type] !== undefined)
    .map(({ type }) => ({ type, read: true, write: grants[type] === 'write' }))
}

/** After a check box was turned: to write is to read too, and who may not read may not write. */
export function turnGrant(
  grants: Grants,
  type: PermissionType,
  access: Access,
  isOn: boolean,
): Grants {
  const { [type]: before, ...others } = grants
  if (isOn) return { ...others, [type]: before === 'write' ? 'write' : access }
  return access === 'write' && before !== undefined ? { ...others, [type]: 'read' } : others
}

export function isSameGrants(one: Grants, other: Grants): boolean {
  return grantTypes.every(({ type }) => one[type] === other[type])
}

/** What putting a change back leads to: a type that somebody turned since stays as it is. */
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

/** What makes the permissions of a user be the wanted grants; what is taken away first. */
export function planGrantCalls(
  before: readonly Pick<Permission, 'id' | 'type' | 'write'>[],
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
