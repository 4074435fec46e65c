/** An account that is no administrator in the console, as rows say. */
import { createAccount } from '../../../src/coordinator/state-service/identity/accounts.js'
import type { ConsoleRole } from '../../../src/domain/console-role.js'
import { administrator } from '../agent-gateway/service.js'
import type { ConsoleClient } from './console-client.js'

export interface ConsoleUser {
  readonly name: string
  readonly role: Exclude<ConsoleRole, 'Admin'>
  readonly groupIds: readonly number[]
}

const password = 'battery horse correct'

/** In the system administrator's own groups. Answers `name:password`. */
export async function addConsoleUser(
  { controller: { identity } }: ConsoleClient,
  { name, role, groupIds }: ConsoleUser,
): Promise<string> {
  const { id: accountId } = await createAccount(identity, administrator, { name, password })
  const { queries } = identity.service.store
  const { id: consoleUserId } = await queries
    .insertInto('consoleUsers')
    .values({ accountId, role, createdAt: 1, updatedAt: 1 })
    .returning('id')
    .executeTakeFirstOrThrow()
  const groups = groupIds.map((groupId) => ({ consoleUserId, groupId }))
  if (groups.length > 0) await queries.insertInto('consoleUserGroups').values(groups).execute()
  return `${name}:${password}`
}
