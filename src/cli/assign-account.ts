/** `organizations assign|unassign`. */
import { account as resource } from '../resources/account.js'
import { requireFields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { confirm } from './confirm.js'
import { findId, openObject } from './find-object.js'
import { showObject } from './output.js'
import { toNamed } from './resource-noun.js'
import { textFlag, word, type Invocation, type Named } from './verb.js'

const account = toNamed(resource)

export async function assignAccount(
  invocation: Invocation,
  organization: Named,
): Promise<undefined> {
  await change(invocation, organization, { verb: 'assign', name: readAccount(invocation) })
}

export async function unassignAccount(
  invocation: Invocation,
  organization: Named,
): Promise<undefined> {
  const name = readAccount(invocation)
  const [from, who] = [word(invocation, 0), name].map((text) => JSON.stringify(text))
  await confirm(invocation, `remove account ${who ?? ''} from organization ${from ?? ''}`)
  await change(invocation, organization, { verb: 'unassign', name })
}

function readAccount(invocation: Invocation): string {
  const name = textFlag(invocation, 'account')
  if (name === undefined) throw usageError('--account ACCOUNT is needed')
  return name
}

async function change(
  invocation: Invocation,
  organization: Named,
  { verb, name }: { readonly verb: string; readonly name: string },
): Promise<void> {
  const { api, path } = await openObject(invocation, organization)
  const body = { account: { id: Number(await findId(api, account, name)) } }
  const changed = await api.call({ method: 'PUT', path: `${path}/${verb}`, body })
  showObject(invocation.output, requireFields(changed.body))
}
