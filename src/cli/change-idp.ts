/** `idps add|update`: with a client secret that is never a flag's value. */
import { requireFields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { findId } from './find-object.js'
import { readSecretFile, readSecretInput } from './given-text.js'
import { buildBody } from './object-body.js'
import { showObject } from './output.js'
import { isSet, textFlag, word, type Invocation, type NounParts } from './verb.js'

export async function addIdp(invocation: Invocation, idp: NounParts): Promise<undefined> {
  const { api, body } = await readGiven(invocation, idp)
  const made = await api.call({ method: 'POST', path: idp.path, body })
  showObject(invocation.output, requireFields(made.body))
}

export async function updateIdp(invocation: Invocation, idp: NounParts): Promise<undefined> {
  const { api, body } = await readGiven(invocation, idp)
  if (Object.keys(body).length === 0) throw usageError('nothing to change is given')
  const id = await findId(api, idp, word(invocation, 0))
  const changed = await api.call({ method: 'PUT', path: `${idp.path}/${id}`, body })
  showObject(invocation.output, requireFields(changed.body))
}

/** The secret of `--data` counts where no flag gives one. */
async function readGiven(invocation: Invocation, idp: NounParts) {
  const { flags, surroundings } = invocation
  const file = textFlag(invocation, 'client-secret-file')
  const fromInput = isSet(invocation, 'client-secret-stdin')
  if (file !== undefined && fromInput)
    throw usageError('--client-secret-stdin and --client-secret-file exclude each other')
  if (flags['data'] === '-' && fromInput)
    throw usageError('--data - and --client-secret-stdin both read standard input')
  const secret =
    file === undefined
      ? fromInput
        ? await readSecretInput(surroundings)
        : undefined
      : await readSecretFile(file, surroundings)
  const api = await invocation.openApi()
  const body = await buildBody(invocation, api, idp.fields)
  const cleared = flags['client-secret'] === false ? { clientSecret: null } : {}
  return {
    api,
    body: { ...body, ...cleared, ...(secret === undefined ? {} : { clientSecret: secret }) },
  }
}
