/** From what people type, an id or a name, to the id that the API takes. Digits are always an id. */
import type { Api } from './api.js'
import { isReference, nameOf, type Fields } from './api-shapes.js'
import { CliError, exitCodes, usageError } from './cli-error.js'
import type { Named } from './verb.js'

/** Throws CliError when nothing, or more than one thing, has that name. */
export async function findId(api: Api, kind: Named, text: string): Promise<string> {
  const [id] = await findIds(api, kind, [text])
  if (id === undefined) throw usageError(`which ${kind.singular} is not said`)
  return id
}

/** In the order of `texts`; one call for all names. */
export async function findIds(
  api: Api,
  kind: Named,
  texts: readonly string[],
): Promise<readonly string[]> {
  const names = [...new Set(texts.filter((text) => !isId(text)))]
  if (names.length === 0) return texts
  const { path, nameField, singular } = kind
  if (nameField === null)
    throw usageError(`${JSON.stringify(names[0])} is no id; a ${singular} is named by its id`)
  const rows = await api.readList(path, { [nameField]: names.map(escapePattern).join(',') })
  return texts.map((text) => {
    if (isId(text)) return text
    const [found, ...others] = rows.filter((row) => row[nameField] === text)
    if (!found)
      throw new CliError(exitCodes.refused, `${singular} ${JSON.stringify(text)} was not found`)
    if (others.length > 0) throw ambiguous(kind, text, [found, ...others])
    return String(found['id'])
  })
}

/** choices: 2: ids match `[1-9][0-9]{0,15}`. */
export function isId(text: string): boolean {
  return /^[1-9][0-9]{0,15}$/.test(text)
}

/** `a,b` with `\,` for a comma that belongs to a name. */
export function splitNames(text: string): readonly string[] {
  const parts = text.match(/(?:\\.|[^,\\])+|\\$/gs) ?? []
  return parts.map((part) => part.replace(/\\([\\,])/g, '$1')).filter((part) => part !== '')
}

/** A name as a list filter that means itself (choices: 2). */
function escapePattern(name: string): string {
  return name.replace(/[\\*,]/g, '\\$&')
}

function ambiguous({ singular }: Named, name: string, found: readonly Fields[]): CliError {
  const places = found.map((row) => {
    const owner = row['organization']
    const where = isReference(owner) ? `of organization ${nameOf(owner) ?? ''}` : 'of none'
    return `${String(row['id'])} (${where})`
  })
  return new CliError(
    exitCodes.refused,
    `${JSON.stringify(name)} is the name of several: ${singular} ${places.join(' and ')}; give the id`,
  )
}
