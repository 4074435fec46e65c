/** Which place of an account a console login means, and what the caller may do there (docs/behaviour.md, Console). */
import type { ConsoleStanding } from '../../../resources/console-role.js'
import { isAdministrator, type Actor, type Grants } from '../../../resources/permission.js'
import { readConsolePlaces, type ConsolePlace } from './place-queries.js'
import type { Queries } from '../../store/store.js'
import { readGrants } from '../../identity/user-queries.js'
import { unauthenticated } from '../../identity/sessions.js'

interface ConsoleAccount {
  readonly id: number
  readonly name: string
  readonly systemAdministrator: boolean
}

/** `organization` undefined: the one that it is in. Throws 'unauthenticated' when there is none, or several. */
export async function findPlaceByName(
  queries: Queries,
  account: ConsoleAccount,
  organization: string | undefined,
): Promise<Actor> {
  if (account.systemAdministrator && organization === undefined) return toAdministrator(account)
  const open = (await readConsolePlaces(queries, account.id)).filter(({ locked }) => !locked)
  const meant = open.filter(
    ({ organizationName }) => organization === undefined || organizationName === organization,
  )
  const [place, another] = meant
  if (!place) throw unauthenticated('the name or the password is wrong')
  if (another)
    throw unauthenticated(
      `${account.name} is in several organizations: log in as ${account.name}@<organization>`,
    )
  return toActor(queries, account, place)
}

/** Of a session, which keeps the organization; undefined: the account may not enter there any more. */
export async function findPlaceOf(
  queries: Queries,
  account: ConsoleAccount,
  organizationId: number | null,
): Promise<Actor | undefined> {
  if (account.systemAdministrator && organizationId === null) return toAdministrator(account)
  const places = await readConsolePlaces(queries, account.id)
  const place = places.find((one) => one.organizationId === organizationId && !one.locked)
  return place && toActor(queries, account, place)
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
  place: ConsolePlace,
): Promise<Actor> {
  const { organizationId, role } = place
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
    console: isAdmin ? { role: 'Admin', groupIds: null } : toStanding(place),
  }
}

/** Chosen by us: a user of the controller without a role in the console reads there what was assigned to it: nothing. */
function toStanding({ consoleRole, groupIds }: ConsolePlace): ConsoleStanding {
  return { role: consoleRole ?? 'ReadOnly', groupIds: new Set(groupIds) }
}
