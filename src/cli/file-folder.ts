/** `files upload DIR` and `files diff DIR`: compares a folder's `*.vcl` with the organization's files, by base name. */
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Api } from './api.js'
import { idOf, isFields, type Fields } from './api-shapes.js'
import { CliError, exitCodes, usageError, type ExitCode } from './cli-error.js'
import { readBytes, toSource } from './given-text.js'
import { createStatusLine } from './status-line.js'
import { showList, showText } from './output.js'
import { diffTexts } from './text-diff.js'
import { isSet, word, type Invocation, type Named } from './verb.js'

interface LocalFile {
  readonly name: string
  readonly bytes: Buffer
}

interface Uploaded {
  readonly name: string
  readonly action: 'created' | 'updated' | 'unchanged' | 'deleted' | 'in use'
  readonly version: unknown
}

const columns = [{ field: 'name' }, { field: 'action' }, { field: 'version' }]

export async function uploadFolder(invocation: Invocation, file: Named): Promise<undefined> {
  const locals = await readFolder(invocation)
  if (locals.length === 0 && isSet(invocation, 'delete'))
    throw usageError(`${word(invocation, 0)} has no *.vcl: --delete would delete all files`)
  const api = await invocation.openApi()
  const stored = await readOwnFiles(api, file)
  const done: Uploaded[] = []
  const line = createStatusLine(invocation.system.stderr)
  try {
    for (const local of locals) {
      line.draw(`${done.length + 1}/${locals.length} ${local.name}`)
      done.push(await uploadFile(api, file, local, stored.get(local.name)))
    }
    const names = new Set(locals.map(({ name }) => name))
    const lost = isSet(invocation, 'delete') ? [...stored].filter(([name]) => !names.has(name)) : []
    for (const [name, object] of lost) {
      line.draw(`deleting ${name}`)
      done.push(await deleteFile(api, file, object))
    }
  } finally {
    line.remove()
  }
  await showList(
    invocation.output,
    done.map((row) => ({ ...row })),
    columns,
  )
}

/** Returns `done` if an upload would change nothing, else `refused`. */
export async function diffFolder(invocation: Invocation, file: Named): Promise<ExitCode> {
  const locals = await readFolder(invocation)
  const api = await invocation.openApi()
  const stored = await readOwnFiles(api, file)
  const different: { readonly name: string; readonly diff: string }[] = []
  for (const local of locals) {
    const object = stored.get(local.name)
    if (object && isSame(object, local)) continue
    const source = object ? await readSource(api, file, object) : ''
    const from = { label: object ? `coordinator/${local.name}` : '/dev/null', text: source }
    const to = { label: `folder/${local.name}`, text: local.bytes.toString('utf8') }
    different.push({ name: local.name, diff: diffTexts(from, to) })
  }
  showText(invocation.output, different.map(({ diff }) => diff).join(''), different)
  return different.length === 0 ? exitCodes.done : exitCodes.refused
}

/** Returns the files sorted by name. Throws CliError (usage) if the path is not a readable folder. */
async function readFolder(invocation: Invocation): Promise<readonly LocalFile[]> {
  const folder = word(invocation, 0)
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => {
    throw usageError(`${folder} is not a folder that can be read`)
  })
  const names = entries
    // Pipes are skipped, because reading one would never end.
    .filter((entry) => entry.name.endsWith('.vcl') && (entry.isFile() || entry.isSymbolicLink()))
    .map((entry) => entry.name)
    .toSorted()
  const locals: LocalFile[] = []
  for (const name of names)
    locals.push({ name, bytes: await readBytes(join(folder, name), invocation.system) })
  return locals
}

/** Files of the caller's organization; for a system administrator, files without an organization. */
async function readOwnFiles(api: Api, { path }: Named): Promise<ReadonlyMap<string, Fields>> {
  const own = idOf((await api.readObject('/auth/whoami'))['organization'])
  const files = await api.readList(path)
  return new Map(
    files
      .filter((object) => idOf(object['organization']) === own)
      .map((object) => [String(object['name']), object]),
  )
}

async function uploadFile(
  api: Api,
  { path }: Named,
  local: LocalFile,
  stored: Fields | undefined,
): Promise<Uploaded> {
  const { name } = local
  if (stored && isSame(stored, local))
    return { name, action: 'unchanged', version: stored['version'] }
  const source = toSource(local.bytes)
  const { body } = stored
    ? await api.call({
        method: 'PUT',
        path: `${path}/${String(stored['id'])}`,
        body: { ...source },
      })
    : await api.call({ method: 'POST', path, body: { name, ...source } })
  const version = isFields(body) ? body['version'] : null
  return { name, action: stored ? 'updated' : 'created', version }
}

async function deleteFile(api: Api, { path }: Named, stored: Fields): Promise<Uploaded> {
  const row = { name: String(stored['name']), version: stored['version'] }
  try {
    await api.call({ method: 'DELETE', path: `${path}/${String(stored['id'])}` })
    return { ...row, action: 'deleted' }
  } catch (error) {
    const isInUse = error instanceof CliError && error.refusal?.status === 409
    if (isInUse) return { ...row, action: 'in use' }
    throw error
  }
}

/** `sha` is the digest of the decoded bytes, in literal quotes (docs/behaviour.md, Files). */
function isSame(stored: Fields, { bytes }: LocalFile): boolean {
  return stored['sha'] === `"${createHash('sha256').update(bytes).digest('hex')}"`
}

async function readSource(api: Api, { path }: Named, stored: Fields): Promise<string> {
  const { source, encoded } = await api.readObject(`${path}/${String(stored['id'])}`)
  const text = typeof source === 'string' ? source : ''
  return encoded === true ? Buffer.from(text, 'base64').toString('utf8') : text
}
