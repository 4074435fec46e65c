/** `files add|versions|diff`: one file, its content and its versions. */
import { basename } from 'node:path'
import { requireFields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { findId } from './find-object.js'
import { readBytes, toSource } from './given-text.js'
import { buildBody } from './object-body.js'
import { showList, showObject, showText } from './output.js'
import { textFlag, word, type Invocation, type NounParts } from './verb.js'

const versionColumns = [
  { field: 'version' },
  { field: 'created' },
  { field: 'account' },
  { field: 'encoded' },
  { field: 'sha' },
]

export async function addFile(invocation: Invocation, file: NounParts): Promise<undefined> {
  const [path] = invocation.words
  const api = await invocation.openApi()
  const content = path === undefined ? {} : toSource(await readBytes(path, invocation.surroundings))
  const name = path === undefined || path === '-' ? {} : { name: basename(path) }
  const body = { ...name, ...content, ...(await buildBody(invocation, api, file.fields)) }
  if (!('source' in body))
    throw usageError('no content is given: a PATH, - for standard input, --source or --data')
  if (!('name' in body)) throw usageError('standard input has no name: --name is needed')
  const made = await api.call({ method: 'POST', path: file.path, body })
  showObject(invocation.output, requireFields(made.body))
}

export async function listVersions(invocation: Invocation, file: NounParts): Promise<undefined> {
  const api = await invocation.openApi()
  const id = await findId(api, file, word(invocation, 0))
  const versions = await api.readList(`${file.path}/${id}/versions`)
  await showList(invocation.output, versions, versionColumns)
}

export async function diffVersions(invocation: Invocation, file: NounParts): Promise<undefined> {
  const from = textFlag(invocation, 'from')
  const to = textFlag(invocation, 'to')
  if (from === undefined || to === undefined)
    throw usageError('two versions are compared: --from N --to M; a folder without either')
  const api = await invocation.openApi()
  const id = await findId(api, file, word(invocation, 0))
  const query = { from, to }
  const { body } = await api.call({ method: 'GET', path: `${file.path}/${id}/diff`, query })
  const { diff } = requireFields(body)
  showText(invocation.output, typeof diff === 'string' ? diff : '', body)
}
