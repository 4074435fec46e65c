/** `whoami`: shows the account, its organization and role, and a regular user's permissions. */
import { nameOf, requireList } from './api-shapes.js'
import { toCell } from './cells.js'
import { showObject } from './output.js'
import type { Invocation } from './verb.js'

/** The minimum number of permission types (docs/behaviour.md, Permissions). */
const permissionTypes = 15

export async function showWhoami(invocation: Invocation): Promise<undefined> {
  const api = await invocation.openApi()
  const whoami = await api.readObject('/auth/whoami')
  const { output } = invocation
  if (output.form === 'json') {
    showObject(output, whoami)
    return
  }
  const { account, organization, role } = whoami
  const granted = requireList(whoami['permissions'])
  // An administrator's API token may have fewer permissions than the account.
  const mayAll =
    role !== 'regular' &&
    granted.length >= permissionTypes &&
    granted.every(({ write }) => write === true)
  showObject(output, {
    account: nameOf(account),
    organization: nameOf(organization) ?? null,
    role,
    permissions: mayAll ? 'all' : toCell(granted),
  })
}
