/** Builds the body of a POST or PUT from flags and `--data`. Flags override `--data`. */
import type { Api } from './api.js'
import type { Fields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { findIds, isId, splitNames } from './find-object.js'
import { readData, readSource } from './given-text.js'
import { readMoment } from './moment.js'
import { textFlag, toKebab, type Field, type FieldType, type Invocation } from './verb.js'

export async function buildBody(
  invocation: Invocation,
  api: Api,
  fields: readonly Field[],
): Promise<Fields> {
  const data = await readData(textFlag(invocation, 'data'), invocation.system)
  const isGiven = ({ name }: Field): boolean => invocation.flags[toKebab(name)] !== undefined
  const given = fields.filter(isGiven)
  const body: Record<string, unknown> = leaveOut(data, given)
  for (const field of given) {
    const value = invocation.flags[toKebab(field.name)]
    if (typeof value === 'boolean') body[field.name] = field.type.kind === 'boolean' ? value : null
    else if (typeof value === 'string')
      Object.assign(body, await readField(invocation, api, field, value))
  }
  return body
}

/** The API ignores the case of keys and refuses duplicates (docs/behaviour.md, Updates). */
function leaveOut(data: Fields, given: readonly Field[]): Record<string, unknown> {
  const names = new Set(given.map(({ name }) => name.toLowerCase()))
  return Object.fromEntries(Object.entries(data).filter(([key]) => !names.has(key.toLowerCase())))
}

async function readField(
  invocation: Invocation,
  api: Api,
  { name, type }: Field,
  text: string,
): Promise<Fields> {
  switch (type.kind) {
    case 'text':
    case 'boolean':
      return { [name]: text }
    case 'integer':
      return { [name]: readInteger(name, text) }
    case 'moment': {
      const { now } = invocation.system
      return { [name]: readMoment(toKebab(name), text, now()) }
    }
    case 'words':
      return { [name]: splitNames(text) }
    case 'numbers':
      return {
        [name]: Object.fromEntries(text.split(',').map((entry) => readNumber(name, entry))),
      }
    case 'grants':
      return { [name]: text.split(',').map((grant) => readGrant(name, grant)) }
    case 'source':
      return { ...(await readSource(text, invocation.system)) }
    case 'reference': {
      const [id] = await findIds(api, type.of, [text])
      return { [name]: { id: Number(id) } }
    }
    case 'references':
      return { [name]: await readReferences(api, type, splitNames(text)) }
  }
}

async function readReferences(
  api: Api,
  { of, newNames = false }: Extract<FieldType, { kind: 'references' }>,
  texts: readonly string[],
): Promise<readonly unknown[]> {
  if (newNames) return texts.map((text) => (isId(text) ? { id: Number(text) } : text))
  return (await findIds(api, of, texts)).map((id) => ({ id: Number(id) }))
}

function readInteger(name: string, text: string): number {
  if (!/^-?\d{1,15}$/.test(text))
    throw usageError(`--${toKebab(name)} is ${JSON.stringify(text)}; expected a whole number`)
  return Number(text)
}

function readNumber(name: string, text: string): readonly [name: string, value: number] {
  const [, key, value] = /^\s*([A-Za-z]+)=(\d{1,15})\s*$/.exec(text) ?? []
  if (key === undefined)
    throw usageError(
      `--${toKebab(name)} has ${JSON.stringify(text)}; expected NAME=NUMBER, several separated by commas`,
    )
  return [key, Number(value)]
}

function readGrant(name: string, text: string): Fields {
  const [, type, access] = /^\s*([a-z]+):(read|write)\s*$/.exec(text) ?? []
  if (type === undefined)
    throw usageError(
      `--${toKebab(name)} has ${JSON.stringify(text)}; expected TYPE:read or TYPE:write`,
    )
  return { type, read: true, write: access === 'write' }
}
