/** `accounts add|update`: with a password that is never a flag's value. */
import { requireFields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { findId } from './find-object.js'
import { buildBody } from './object-body.js'
import { showObject } from './output.js'
import { hasPassword, readNewPassword, readPassword } from './password.js'
import { word, type Invocation, type NounParts } from './verb.js'

export async function addAccount(invocation: Invocation, account: NounParts): Promise<undefined> {
  const name = word(invocation, 0)
  const given = await readGiven(invocation, account)
  const password =
    given.password ?? (await readNewPassword(invocation, `Password of the new account ${name}: `))
  const made = await given.api.call({
    method: 'POST',
    path: account.path,
    body: { ...given.body, name, password },
  })
  showObject(invocation.output, requireFields(made.body))
}

export async function updateAccount(
  invocation: Invocation,
  account: NounParts,
): Promise<undefined> {
  const { api, body: fields, password } = await readGiven(invocation, account)
  const body = { ...fields, ...(password === undefined ? {} : { password }) }
  if (Object.keys(body).length === 0) throw usageError('nothing to change is given')
  const id = await findId(api, account, word(invocation, 0))
  const changed = await api.call({ method: 'PUT', path: `${account.path}/${id}`, body })
  showObject(invocation.output, requireFields(changed.body))
}

/** The password of `--data` counts where no flag gives one. */
async function readGiven(invocation: Invocation, account: NounParts) {
  const { flags } = invocation
  if (flags['data'] === '-' && flags['password-stdin'] === true)
    throw usageError('--data - and --password-stdin both read standard input')
  const api = await invocation.openApi()
  const { password: inData, ...body } = await buildBody(invocation, api, account.fields)
  const password = hasPassword(invocation) ? await readPassword(invocation, '') : inData
  return { api, body, password }
}
