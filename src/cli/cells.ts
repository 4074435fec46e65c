/** From API values to text: a cell of a table, and an object as lines of `field  value`. */
import { isFields, isReference, nameOf, type Fields } from './api-shapes.js'

export interface Column {
  /** The API's field; `mainVCL.name` reaches into an object. */
  readonly field: string
  /** Above the column; the field's name otherwise. CSV always has the field's name. */
  readonly title?: string
}

export function readField(row: Fields, path: string): unknown {
  let value: unknown = row
  for (const key of path.split('.')) value = isFields(value) ? value[key] : undefined
  return value
}

/** References are shown by name, lists of them joined by a comma, what is missing as nothing. */
export function toCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(toCell).join(', ')
  if (isReference(value)) return nameOf(value) ?? ''
  if (isGrant(value))
    return `${String(value['type'])}:${value['write'] === true ? 'write' : 'read'}`
  return isFields(value) ? toPairs(value) : JSON.stringify(value)
}

/** What a session may at most, as it is typed (docs/behaviour.md, API tokens); a permission has more fields. */
function isGrant(value: unknown): value is Fields {
  return isFields(value) && Object.keys(value).toSorted().join() === 'read,type,write'
}

export interface Line {
  readonly label: string
  readonly text: string
}

/** Every field of an object; inner objects as `config.desired.revision`, lists of objects a line each. */
export function toLines(object: Fields, prefix = ''): readonly Line[] {
  return Object.entries(object).flatMap(([key, value]) => fieldLines(`${prefix}${key}`, value))
}

function fieldLines(label: string, value: unknown): readonly Line[] {
  if (isReference(value)) return [{ label, text: nameWithId(value) }]
  if (isFields(value)) return toLines(value, `${label}.`)
  if (!Array.isArray(value)) return [{ label, text: toCell(value) }]
  const items: readonly unknown[] = value
  if (items.every(isReference)) return [{ label, text: items.map(nameWithId).join(', ') }]
  if (!items.some(isFields)) return [{ label, text: toCell(items) }]
  return items.map((item, index) => ({ label: `${label}[${index}]`, text: toCell(item) }))
}

/** A name alone does not say which of two. */
function nameWithId(reference: Fields): string {
  return `${nameOf(reference) ?? ''} (${toCell(reference['id'])})`
}

/** `agent=edge-1 state=applied`; what is missing is left out. */
function toPairs(fields: Fields): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${toCell(value)}`)
    .join(' ')
}
