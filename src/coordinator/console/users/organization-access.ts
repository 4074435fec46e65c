/** Which organization a console login enters, and the caller's rights there (docs/behaviour.md, Console). */
import type { ConsoleRights } from '../../../resources/console-role.js'
import { isAdministrator, type Actor, type Grants } from '../../../resources/permission.js'
import { readOrganizationAccess, type OrganizationAccess } from './access-queries.js'
import type { Queries } from '../../store/store.js'
import { readGrants } from '../../identity/user-queries.js'
import { unauthenticated } from '../../identity/sessions.js'

interface ConsoleAccount {
  readonly id: number
  readonly name: string
  readonly systemAdministrator: boolean
}

/** `organization` undefined: the account's only one. Throws 'unauthenticated' if it has none, or several. */
export async function findAccessByName(
  queries: Queries,
  account: ConsoleAccount,
  organization: string | undefined,
): Promise<Actor> {
  if (account.systemAdministrator && organization === undefined) return toAdministrator(account)
  const open = (await readOrganizationAccess(queries, account.id)).filter(({ locked }) => !locked)
  const meant = open.filter(
    ({ organizationName }) => organization === undefined || organizationName === organization,
  )
  const [access, another] = meant
  if (!access) throw unauthenticated('the name or the password is wrong')
  if (another)
    throw unauthenticated(
      `${account.name} is in several organizations: log in as ${account.name}@<organization>`,
    )
  return toActor(queries, account, access)
}

/** For a session, which keeps its organization; undefined: the account may no longer enter there. */
export async function findAccessOf(
  queries: Queries,
  account: ConsoleAccount,
  organizationId: number | null,
): Promise<Actor | undefined> {
  if (account.systemAdministrator && organizationId === null) return toAdministrator(account)
  const accesses = await readOrganizationAccess(queries, account.id)
  const access = accesses.find((one) => one.organizationId === organizationId && !one.locked)
  return access && toActor(queries, account, access)
}

function toAdministrator({ id, name }: ConsoleAccount): Actor {
  return {
    accountId: id,
    accountName: name,
    sessionId: 0,
    organizationId: null,
    role: 'system',
    grants: {},
    console: { role: 'Admin', groupIds: null },
  }
}

async function toActor(
  queries: Queries,
  account: ConsoleAccount,
  access: OrganizationAccess,
): Promise<Actor> {
  const { organizationId, role } = access
  const grants: Grants =
    organizationId === null || role === null
      ? {}
      : await readGrants(queries, { organizationId, accountId: account.id })
  const isAdmin = role !== null && isAdministrator({ role, grants })
  return {
    accountId: account.id,
    accountName: account.name,
    sessionId: 0,
    organizationId,
    role: isAdmin ? 'administrator' : 'regular',
    grants,
    console: isAdmin ? { role: 'Admin', groupIds: null } : toRights(access),
  }
}

/** A controller user without a console role has nothing assigned and so reads nothing in the console. */
function toRights({ consoleRole, groupIds }: OrganizationAccess): ConsoleRights {
  return { role: consoleRole ?? 'ReadOnly', groupIds: new Set(groupIds) }
}
