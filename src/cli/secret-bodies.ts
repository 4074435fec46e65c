/** Bodies with a secret, which is never a flag's value: account passwords, client secrets of identity providers, webhook keys. */
import type { Api } from './api.js'
import type { Fields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { readSecretFile, readSecretInput } from './given-text.js'
import { buildBody } from './object-body.js'
import { hasPassword, readNewPassword, readPassword } from './password.js'
import { isSet, textFlag, word, type Field, type Invocation } from './verb.js'

/** Uses the password of `--data` if no flag supplies one, and prompts if neither does. */
export async function readNewAccount(
  invocation: Invocation,
  api: Api,
  fields: readonly Field[],
): Promise<Fields> {
  const name = word(invocation, 0)
  const body = await readAccountChange(invocation, api, fields)
  const password =
    body['password'] ?? (await readNewPassword(invocation, `Password of the new account ${name}: `))
  return { ...body, name, password }
}

export async function readAccountChange(
  invocation: Invocation,
  api: Api,
  fields: readonly Field[],
): Promise<Fields> {
  refuseTwoReaders(invocation, 'password-stdin')
  const body = await buildBody(invocation, api, fields)
  return hasPassword(invocation) ? { ...body, password: await readPassword(invocation, '') } : body
}

export const readIdp = bodyWithSecret('clientSecret', 'client-secret')
export const readWebhook = bodyWithSecret('secret', 'secret')

/** Uses the secret of `--data` if no flag supplies one. */
function bodyWithSecret(key: string, flag: string) {
  return async (invocation: Invocation, api: Api, fields: readonly Field[]): Promise<Fields> => {
    const { flags, system } = invocation
    const file = textFlag(invocation, `${flag}-file`)
    const fromInput = isSet(invocation, `${flag}-stdin`)
    if (file !== undefined && fromInput)
      throw usageError(`--${flag}-stdin and --${flag}-file exclude each other`)
    refuseTwoReaders(invocation, `${flag}-stdin`)
    const body = await buildBody(invocation, api, fields)
    if (file !== undefined) return { ...body, [key]: await readSecretFile(file, system) }
    if (fromInput) return { ...body, [key]: await readSecretInput(system) }
    return flags[flag] === false ? { ...body, [key]: null } : body
  }
}

function refuseTwoReaders(invocation: Invocation, flag: string): void {
  if (textFlag(invocation, 'data') === '-' && isSet(invocation, flag))
    throw usageError(`--data - and --${flag} both read standard input`)
}
