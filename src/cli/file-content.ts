/** `files add|get|versions|diff`: a single file, its content and its versions. */
import { basename } from 'node:path'
import { requireFields, type Fields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { isId, openObject } from './find-object.js'
import { readBytes, toSource } from './given-text.js'
import { buildBody } from './object-body.js'
import { showList, showObject, showText } from './output.js'
import { toPrintableText } from './printable-text.js'
import { isSet, textFlag, type Invocation, type NounParts } from './verb.js'

const versionColumns = [
  { field: 'version' },
  { field: 'created' },
  { field: 'account' },
  { field: 'encoded' },
  { field: 'sha' },
]

export async function addFile(invocation: Invocation, file: NounParts): Promise<undefined> {
  const [path] = invocation.words
  if (path !== undefined && textFlag(invocation, 'source') !== undefined)
    throw usageError('The content is given twice: a PATH (- is standard input) and --source')
  const api = await invocation.openApi()
  const content = path === undefined ? {} : toSource(await readBytes(path, invocation.system))
  const name = path === undefined || path === '-' ? {} : { name: basename(path) }
  const body = { ...name, ...content, ...(await buildBody(invocation, api, file.fields)) }
  if (!('source' in body))
    throw usageError('No content is given: a PATH, - for standard input, --source or --data')
  if (!('name' in body)) throw usageError('Standard input has no name: --name is needed')
  const made = await api.call({ method: 'POST', path: file.path, body })
  showObject(invocation.output, requireFields(made.body))
}

export async function getFile(invocation: Invocation, file: NounParts): Promise<undefined> {
  const { api, path } = await openObject(invocation, file)
  showContent(invocation, await api.readObject(path))
}

export async function listVersions(invocation: Invocation, file: NounParts): Promise<undefined> {
  const [, version] = invocation.words
  if (version !== undefined) requireVersion(version)
  if (version === undefined && isSet(invocation, 'content'))
    throw usageError('--content shows one version: its number is missing')
  const { api, path } = await openObject(invocation, file)
  if (version === undefined)
    await showList(invocation.output, await api.readList(`${path}/versions`), versionColumns)
  else showContent(invocation, await api.readObject(`${path}/versions/${version}`))
}

export async function diffVersions(invocation: Invocation, file: NounParts): Promise<undefined> {
  const from = textFlag(invocation, 'from')
  const to = textFlag(invocation, 'to')
  if (from === undefined || to === undefined)
    throw usageError('Two versions are compared: --from N --to M; a folder without either')
  for (const version of [from, to]) requireVersion(version)
  const { api, path } = await openObject(invocation, file)
  const { body } = await api.call({ method: 'GET', path: `${path}/diff`, query: { from, to } })
  const { diff } = requireFields(body)
  showText(invocation.output, typeof diff === 'string' ? diff : '', body)
}

/** Throws CliError unless the text is a version number. */
function requireVersion(text: string): void {
  if (!isId(text))
    throw usageError(`${JSON.stringify(text)} is not a version; expected a number from 1`)
}

/** With `--content` prints the file's bytes; on a terminal, control characters are escaped. */
function showContent(invocation: Invocation, content: Fields): void {
  const { output, system } = invocation
  if (!isSet(invocation, 'content')) {
    showObject(output, content)
    return
  }
  const { source, encoded } = content
  const bytes = Buffer.from(String(source), encoded === true ? 'base64' : 'utf8')
  system.stdout.write(output.isTerminal ? toPrintableText(bytes.toString('utf8')) : bytes)
}
