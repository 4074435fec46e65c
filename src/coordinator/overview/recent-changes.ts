/** The most recent changes, in words and with current names, as far as the caller may read them. */
import { maxListedChanges, type OverviewChange } from '../../resources/overview.js'
import { may, type Actor } from '../../resources/permission.js'
import { groupBy } from '../../group-by.js'
import { printBanExpression } from '../../vcl/ban-expression.js'
import { toIso } from '../api/times.js'
import type { InvalidationContent } from '../invalidations/invalidation.js'
import { scopeOf, type StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import { readChangingCalls, readContents, readRevisions } from './change-queries.js'
import { describeChange, findChangedObject } from './describe-change.js'
import { isNamedType, namedTables, readNames } from './object-names.js'

type Call = Awaited<ReturnType<typeof readChangingCalls>>[number]

/** The maximum length of the shown ban expression or URL, in characters. */
const maxContentLength = 80
/** A revision is recorded when its caches switch, a call when it is answered: they differ by at most the time that a call may wait. */
const revisionApartMs = 10 * 60_000

/** Reads the calls in one query, and the names in one query for each type. */
export async function readRecentChanges(
  { store }: StateService,
  actor: Actor,
): Promise<OverviewChange[]> {
  const { queries } = store
  const calls = await readChangingCalls(queries, scopeOf(actor), maxListedChanges)
  const names = await nameObjects(queries, actor, calls)
  const contents = await describeContents(queries, actor, calls)
  const revisionOf = await findRevisions(queries, actor, calls)
  return calls.flatMap((call) => {
    const object = findChangedObject(call)
    const name = names.get(toKey(object)) ?? null
    const change = describeChange(call, {
      name,
      revision: revisionOf(call),
      content: contents.get(object?.id ?? 0) ?? null,
    })
    if (change === null) return []
    return [
      {
        at: toIso(call.createdAt),
        ...change,
        account: call.account,
        object:
          object?.id == null || name === null ? null : { type: object.type, id: object.id, name },
      },
    ]
  })
}

type Subject = ReturnType<typeof findChangedObject>

function toKey(object: Subject): string {
  return object === null ? '' : `${object.type} ${object.id}`
}

async function nameObjects(
  queries: Queries,
  actor: Actor,
  calls: readonly Call[],
): Promise<ReadonlyMap<string, string>> {
  const objects = calls.map(findChangedObject).filter((object) => object !== null)
  const names = new Map<string, string>()
  for (const [type, some] of groupBy(objects, (object) => object.type)) {
    if (!isNamedType(type) || !may(actor, namedTables[type].permission, 'read')) continue
    const found = await readNames(queries, scopeOf(actor), namedTables[type], idsOf(some))
    for (const [id, name] of found) names.set(toKey({ type, id }), name)
  }
  return names
}

async function describeContents(
  queries: Queries,
  actor: Actor,
  calls: readonly Call[],
): Promise<ReadonlyMap<number, string>> {
  if (!may(actor, 'invalidation', 'read')) return new Map()
  const ids = idsOf(ofType(calls, 'invalidation'))
  if (ids.length === 0) return new Map()
  const contents = await readContents(queries, scopeOf(actor), ids)
  return new Map([...contents].map(([id, content]) => [id, describeContent(content)]))
}

/** `banned obj.status == 404`, `purged http://example.com/a and 3 more`. */
function describeContent(content: InvalidationContent): string {
  const [verb, members] =
    content.type === 'ban'
      ? (['banned', content.expressions.map(printBanExpression)] as const)
      : (['purged', content.urls] as const)
  const [first = ''] = members
  const shown = first.length > maxContentLength ? `${first.slice(0, maxContentLength - 1)}…` : first
  return `${verb} ${shown}${members.length > 1 ? ` and ${members.length - 1} more` : ''}`
}

/** Finds the revision that a call created: the nearest in time of its group and account. No two calls share a revision. */
async function findRevisions(
  queries: Queries,
  actor: Actor,
  calls: readonly Call[],
): Promise<(call: Call) => number | null> {
  const groupIds = may(actor, 'vclgroup', 'read') ? idsOf(ofType(calls, 'vclgroup')) : []
  if (groupIds.length === 0) return () => null
  const oldest = calls.at(-1)?.createdAt ?? 0
  const since = oldest - revisionApartMs
  const left = new Set(await readRevisions(queries, scopeOf(actor), { groupIds, since }))
  return (call) => {
    const groupId = findChangedObject(call)?.id
    const apart = (at: number): number => Math.abs(at - call.createdAt)
    const [nearest] = [...left]
      .filter((entry) => entry.groupId === groupId && entry.account === call.account)
      .filter(({ at }) => apart(at) <= revisionApartMs)
      .toSorted((a, b) => apart(a.at) - apart(b.at))
    if (!nearest || !makesRevision(call)) return null
    left.delete(nearest)
    return nearest.revision
  }
}

function makesRevision({ path }: Call): boolean {
  return /\/(?:deploy|rollback|reload|promote)$/.test(path)
}

function ofType(calls: readonly Call[], type: string): readonly Subject[] {
  return calls.map(findChangedObject).filter((object) => object?.type === type)
}

function idsOf(objects: readonly Subject[]): readonly number[] {
  return [...new Set(objects.flatMap((object) => object?.id ?? []))]
}
