/** How triggers note what changed (0020-events.ts): after which writes, of which columns, and what they write. */
import type { ChangeKind } from '../../../resources/event.js'
import type { Trigger } from '../database.js'

export function on(table: string, after: 'insert' | 'delete'): Omit<Trigger, 'work'> {
  return { name: `${table}_${after}`, table, after }
}

/** Only when one of these columns differs. */
export function onChange(
  table: string,
  columns: readonly string[],
  name: string = `${table}_update`,
): Omit<Trigger, 'work'> {
  return { name, table, after: `update of ${columns.map(quote).join(', ')}`, when: differ(columns) }
}

export function differ(columns: readonly string[]): string {
  return columns
    .map((column) => `new.${quote(column)} is distinct from old.${quote(column)}`)
    .join(' or ')
}

export function note(kind: ChangeKind, id: string): string {
  return `insert into changes (kind, "objectId") values ('${kind}', ${id})`
}

export function noteAll(kind: ChangeKind, id: string, from: string): string {
  return `insert into changes (kind, "objectId") select '${kind}', ${id} from ${from}`
}

export function noteDeleted(kind: ChangeKind): string {
  return `insert into changes (kind, "objectId", deleted, "organizationId")
    values ('${kind}', old.id, 1, old."organizationId")`
}

function quote(column: string): string {
  return `"${column}"`
}
