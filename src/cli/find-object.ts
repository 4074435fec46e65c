/**
 * Resolves typed ids and names to the ids that the API takes. Digits are always an id; a name of digits only is typed with a leading
 * backslash, `\2024`, and a comma inside a name in a list as `\,`: `a\,b`.
 */
import type { Api } from './api.js'
import { idOf, isReference, nameOf, type Fields } from './api-shapes.js'
import { readField } from './cells.js'
import { CliError, exitCodes, usageError } from './cli-error.js'
import { withArticle, word, type Invocation, type Named } from './verb.js'

/** Limit in bytes for the names in one URL; servers and proxies accept 8 KiB of headers. */
const queryLimitBytes = 4096

/** Opens the object that the verb's first argument names. */
export async function openObject(
  invocation: Invocation,
  kind: Named,
): Promise<{ readonly api: Api; readonly path: string }> {
  const api = await invocation.openApi()
  return { api, path: `${kind.path}/${await findId(api, kind, word(invocation, 0))}` }
}

/** Throws CliError if no object, or more than one, has that name. */
export async function findId(api: Api, kind: Named, text: string): Promise<string> {
  const [id] = await findIds(api, kind, [text])
  if (id === undefined) throw usageError(`The ${kind.singular} is missing`)
  return id
}

/** Returns ids in the order of `texts`. Makes one call for all names, or as many calls as the URL length requires. */
export async function findIds(
  api: Api,
  kind: Named,
  texts: readonly string[],
): Promise<readonly string[]> {
  const { nameField, singular, toStoredName = (name: string) => name } = kind
  const nameOfText = (text: string): string => toStoredName(text.replace(/^\\(?=\\*\d+$)/, ''))
  const names = [...new Set(texts.filter((text) => !isId(text)).map(nameOfText))]
  if (names.length === 0) return texts
  if (nameField === null)
    throw usageError(
      `${JSON.stringify(names[0])} is not an id; ${withArticle(singular)} is named by its id`,
    )
  const rows = await readNamed(api, kind, names)
  const ids = new Map<string, string>()
  for (const name of names) {
    const found = rows.filter((row) => readField(row, nameField) === name)
    ids.set(name, await chooseId(api, kind, name, found))
  }
  return texts.map((text) => (isId(text) ? text : (ids.get(nameOfText(text)) ?? '')))
}

/** docs/behaviour.md, Calls: ids match `[1-9][0-9]{0,15}`. */
export function isId(text: string): boolean {
  return /^[1-9][0-9]{0,15}$/.test(text)
}

/** Splits `a,b`; `\,` is a comma inside a name. */
export function splitNames(text: string): readonly string[] {
  const parts = text.match(/(?:\\.|[^,\\])+|\\$/gs) ?? []
  return parts.map((part) => part.replace(/\\([\\,])/g, '$1')).filter((part) => part !== '')
}

async function readNamed(
  api: Api,
  { path, nameField }: Named,
  names: readonly string[],
): Promise<readonly Fields[]> {
  const patterns = names.map(escapePattern)
  const rows: Fields[] = []
  for (let begin = 0; begin < patterns.length;) {
    let end = begin + 1
    let sizeBytes = sizeOf(patterns[begin])
    while (end < patterns.length && sizeBytes + sizeOf(patterns[end]) < queryLimitBytes)
      sizeBytes += sizeOf(patterns[end++])
    const query = { [nameField ?? 'name']: patterns.slice(begin, end).join(',') }
    rows.push(...(await api.readList(path, query)))
    begin = end
  }
  return rows
}

/** Escapes a name for use as a literal list filter (docs/behaviour.md, Lists). */
function escapePattern(name: string): string {
  return name.replace(/[\\*,]/g, '\\$&')
}

function sizeOf(pattern = ''): number {
  return encodeURIComponent(pattern).length + 3 // plus an encoded comma
}

/** For a caller who sees all organizations, a bare name means the object of the caller's own one. Throws CliError if still ambiguous. */
async function chooseId(
  api: Api,
  { singular }: Named,
  name: string,
  found: readonly Fields[],
): Promise<string> {
  if (found.length === 0) throw notFound(api, singular, name)
  const own = found.length === 1 ? found : await keepOwn(api, found)
  if (own.length === 1) return String(own[0]?.['id'])
  const places = found.map((row) => {
    const owner = row['organization']
    const where = isReference(owner) ? `of organization ${nameOf(owner) ?? ''}` : 'of none'
    return `${String(row['id'])} (${where})`
  })
  throw new CliError(
    exitCodes.refused,
    `${JSON.stringify(name)} is the name of several: ${singular} ${places.join(' and ')}; give the id`,
  )
}

/** The same error as the API's for an unknown id (docs/behaviour.md, Errors). */
function notFound({ traceId }: Api, singular: string, name: string): CliError {
  const errorMsg = `${singular} ${JSON.stringify(name)} was not found`
  const body = { traceId, errorKey: singular, errorMsg }
  return new CliError(exitCodes.refused, errorMsg, { status: 404, body })
}

async function keepOwn(api: Api, found: readonly Fields[]): Promise<readonly Fields[]> {
  const { organization } = await api.readObject('/auth/whoami')
  return found.filter((row) => idOf(row['organization']) === idOf(organization))
}
