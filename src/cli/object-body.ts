/** From flags and `--data` to the body of a POST or PUT. Flags win over `--data`. */
import type { Api } from './api.js'
import type { Fields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { findIds, isId, splitNames } from './find-object.js'
import { readData, readSource } from './given-text.js'
import {
  textFlag,
  toKebab,
  type Field,
  type FieldType,
  type Flag,
  type Invocation,
} from './verb.js'

/** The flags of a noun's fields, and `--data`. */
export function fieldFlags(fields: readonly Field[], verb: 'add' | 'update'): readonly Flag[] {
  const flags = fields
    .filter(({ only = verb }) => only === verb)
    .flatMap((field): Flag[] => {
      const name = toKebab(field.name)
      const isBoolean = field.type.kind === 'boolean'
      const argument = isBoolean ? '' : ` <${argumentOf(field.type)}>`
      const flag = { form: `--${name}${argument}`, summary: field.summary }
      const mayClear = isBoolean || (verb === 'update' && field.clearable === true)
      const clearing = isBoolean ? `${field.name}: false` : `empty, or the default`
      return mayClear ? [flag, { form: `--no-${name}`, summary: clearing }] : [flag]
    })
  return [
    ...flags,
    { form: '--data <json>', summary: 'the whole body: JSON, @FILE, or - for standard input' },
  ]
}

export async function buildBody(
  invocation: Invocation,
  api: Api,
  fields: readonly Field[],
): Promise<Fields> {
  const data = await readData(textFlag(invocation, 'data'), invocation.surroundings)
  const body: Record<string, unknown> = { ...data }
  for (const field of fields) {
    const given = invocation.flags[toKebab(field.name)]
    if (given === undefined) continue
    if (typeof given === 'boolean') body[field.name] = field.type.kind === 'boolean' ? given : null
    else if (typeof given === 'string')
      Object.assign(body, await readField(invocation, api, field, given))
  }
  return body
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
    case 'words':
      return { [name]: splitNames(text) }
    case 'grants':
      return { [name]: text.split(',').map((grant) => readGrant(name, grant)) }
    case 'source':
      return { ...(await readSource(text, invocation.surroundings)) }
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
    throw usageError(`--${toKebab(name)} is ${JSON.stringify(text)}; a whole number is right`)
  return Number(text)
}

function readGrant(name: string, text: string): Fields {
  const [, type, access] = /^\s*([a-z]+):(read|write)\s*$/.exec(text) ?? []
  if (type === undefined)
    throw usageError(
      `--${toKebab(name)} has ${JSON.stringify(text)}; TYPE:read or TYPE:write is right`,
    )
  return { type, read: true, write: access === 'write' }
}

function argumentOf(type: FieldType): string {
  switch (type.kind) {
    case 'text':
    case 'boolean':
      return 'text'
    case 'integer':
      return 'number'
    case 'words':
      return 'word,...'
    case 'grants':
      return 'type:access,...'
    case 'source':
      return 'text|@file|-'
    case 'reference':
      return type.of.singular
    case 'references':
      return `${type.of.singular},...`
  }
}
