/** `whoami`: the account, its organization, its role; for a regular user also what it may do. */
import { nameOf, requireList } from './api-shapes.js'
import { showObject } from './output.js'
import type { Invocation } from './verb.js'

export async function showWhoami(invocation: Invocation): Promise<undefined> {
  const api = await invocation.openApi()
  const whoami = await api.readObject('/auth/whoami')
  const { output } = invocation
  if (output.form === 'json') {
    showObject(output, whoami)
    return
  }
  const { account, organization, role } = whoami
  const permissions = requireList(whoami['permissions']).map(
    ({ type, write }) => `${String(type)}${write === true ? ' (write)' : ''}`,
  )
  showObject(output, {
    account: nameOf(account),
    organization: nameOf(organization) ?? null,
    role,
    permissions: role === 'regular' ? permissions : 'all',
  })
}
