/** Selects the events of a webhook, by type and by its filter over the event's object. Pure. */
import { agent } from '../../resources/agent.js'
import { apiLogEntry } from '../../resources/api-log-entry.js'
import { deployment } from '../../resources/deployment.js'
import { invalidation } from '../../resources/invalidation.js'
import { parseListQuery, matchesPattern, type Filter } from '../../resources/list-query.js'
import { openProblem, problem } from '../../resources/problem.js'
import type { Field, Fields } from '../../resources/resource.js'
import { rollout } from '../../resources/rollout.js'
import { vclGroup } from '../../resources/vclgroup.js'
import type { WebhookType } from '../../resources/webhook.js'
import { FleetError } from '../../errors.js'

/** Filters of every type may use these: the event of a deleted object is `{id, deleted: true}`. */
const ofAll = { id: { kind: 'id' }, deleted: { kind: 'flag' } } as const satisfies Fields

/** Fields of event objects (`events/event-views.ts`). */
const fieldsOf: Readonly<Record<WebhookType, Fields>> = {
  agent: agent.fields,
  deployment: {
    ...deployment.fields,
    vclgroup: { kind: 'object', fields: vclGroup.fields },
  },
  invalidation: invalidation.fields,
  apilog: apiLogEntry.fields,
  problem: {
    object: openProblem.fields.object,
    opened: { kind: 'list', of: problem },
    closed: { kind: 'list', of: { kind: 'text' } },
  },
  rollout: rollout.fields,
}

/** Throws 'invalid' for a malformed filter, or for fields that no object of the types has. */
export function parseEventFilter(text: string, types: readonly WebhookType[]): readonly Filter[] {
  const given = new URLSearchParams(text)
  const query: Record<string, string | string[]> = {}
  for (const name of new Set(given.keys())) {
    const values = given.getAll(name)
    query[name] = values.length === 1 ? (values[0] ?? '') : values
  }
  const reserved = Object.keys(query).find((name) => /^(?:sort|take)$/i.test(name))
  if (reserved !== undefined) throw refused(`${reserved} orders lists; a filter has fields alone`)
  const names = new Set(types.flatMap((type) => listPaths({ ...fieldsOf[type], ...ofAll })))
  const fields = Object.fromEntries([...names].map((name) => [name, { type: 'text' } as const]))
  try {
    return parseListQuery(query, fields, 'webhook').filters
  } catch (error) {
    if (!(error instanceof FleetError)) throw error
    throw refused(
      error.message.replace('this list has', 'the events have').replace('; it has', '; they have'),
    )
  }
}

/** `data` is the parsed object of an event. */
export function matchesFilter(filters: readonly Filter[], data: unknown): boolean {
  return filters.every(({ field, anyOf }) =>
    readPath(data, field.split('.')).some((value) =>
      anyOf.some((pattern) => matchesPattern(pattern, value)),
    ),
  )
}

/** Field paths: `name`, or `vclgroup.name` for nested objects. */
function listPaths(fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const parts = partsOf(field)
    return parts === null ? [name] : Object.keys(parts).map((part) => `${name}.${part}`)
  })
}

const referenceParts = { id: { kind: 'id' }, name: { kind: 'text' } } as const satisfies Fields

/** Null if the field has no parts. */
function partsOf(field: Field): Fields | null {
  if (field.kind === 'list') return partsOf(field.of)
  if (field.kind === 'object' || field.kind === 'references') return field.fields
  return field.kind === 'reference' || field.kind === 'owner' ? referenceParts : null
}

/** Returns several values if the path crosses lists, as the texts that patterns are compared with: strings, or JSON. */
function readPath(value: unknown, path: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => readPath(one, path))
  const [name, ...rest] = path
  if (name === undefined) return isObject(value) ? [] : [toText(value)]
  return isObject(value) && Object.hasOwn(value, name)
    ? readPath(Reflect.get(value, name), rest)
    : []
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function refused(problem: string): FleetError {
  return new FleetError('invalid', 'webhook', `filter: ${problem}`)
}
