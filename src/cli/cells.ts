/** Formats API values as text: a table cell, or an object as lines of `field  value`. */
import { isFields, isReference, nameOf, type Fields } from './api-shapes.js'

export interface Column {
  /** The API's field; a path such as `mainVCL.name` selects an inner field. */
  readonly field: string
  /** Column heading, by default the field's name. CSV always uses the field's name. */
  readonly title?: string
}

export function readField(row: Fields, path: string): unknown {
  let value: unknown = row
  for (const key of path.split('.')) value = isFields(value) ? value[key] : undefined
  return value
}

/** References are shown by name, lists are joined by commas, and missing values are empty. */
export function toCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(toCell).join(', ')
  if (isReference(value)) return nameOf(value) ?? ''
  if (isGrant(value))
    return `${String(value['type'])}:${value['write'] === true ? 'write' : 'read'}`
  return isFields(value) ? toPairs(value) : JSON.stringify(value)
}

/** True for a session's grant, which is shown as it is typed (docs/behaviour.md, API tokens); a permission has more fields. */
function isGrant(value: unknown): value is Fields {
  return isFields(value) && Object.keys(value).toSorted().join() === 'read,type,write'
}

export interface Line {
  readonly label: string
  readonly text: string
}

/** One line per field; inner objects use paths such as `config.desired.revision`, lists of objects one line per item. */
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

/** Adds the id, because a name alone may be ambiguous. */
function nameWithId(reference: Fields): string {
  return `${nameOf(reference) ?? ''} (${toCell(reference['id'])})`
}

/** For example `agent=edge-1 state=applied`; missing values are omitted. */
function toPairs(fields: Fields): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${toCell(value)}`)
    .join(' ')
}
