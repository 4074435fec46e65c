/** Figures of groups and domains: which the caller may read, and their names in the archive (docs/behaviour.md, Statistics). */
import { isFigure, nameDomain, parseFigure } from '../../resources/counters.js'
import { may, type Actor } from '../../resources/permission.js'
import { groupBy } from '../../group-by.js'
import { within } from '../store/scope.js'
import { scopeOf, type StateService } from '../service.js'

interface FoundFigures {
  /** For each requested name, the series of which it is the sum. */
  readonly parts: readonly (readonly string[])[]
  readonly groups: ReadonlySet<number>
}

/** `names`: current names, including those of counters. */
export async function findFigures(
  service: StateService,
  actor: Actor,
  names: readonly string[],
): Promise<FoundFigures> {
  const figures = names.flatMap((name) => parseFigure(name) ?? [])
  if (figures.length === 0 || !may(actor, 'vclgroup', 'read'))
    return { parts: names.map((name) => [name]), groups: new Set() }
  const groupsOf = await readGroupsWith(
    service,
    actor,
    figures.flatMap(({ groupId, fqdn }) => (groupId === null && fqdn !== null ? [fqdn] : [])),
  )
  const asked = figures.flatMap(({ groupId }) => groupId ?? [])
  const own = await readOwnGroups(service, actor, asked)
  return {
    parts: names.map((name) => listParts(name, groupsOf)),
    groups: new Set([...own, ...[...groupsOf.values()].flat()]),
  }
}

function listParts(
  name: string,
  groupsOf: ReadonlyMap<string, readonly number[]>,
): readonly string[] {
  const { groupId, fqdn, figure } = parseFigure(name) ?? { groupId: 0, fqdn: null, figure: '' }
  if (!isFigure(name) || groupId !== null || fqdn === null) return [name]
  return (groupsOf.get(fqdn) ?? []).map((id) => `${nameDomain(id, fqdn)}.${figure}`)
}

/** The groups that have each of these domains. */
async function readGroupsWith(
  { store }: StateService,
  actor: Actor,
  fqdns: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  if (fqdns.length === 0) return new Map()
  const rows = await store.queries
    .selectFrom('vclGroupDomains')
    .innerJoin('domains', 'domains.id', 'vclGroupDomains.domainId')
    .innerJoin('vclGroups', 'vclGroups.id', 'vclGroupDomains.groupId')
    .select(['domains.fqdn', 'vclGroupDomains.groupId'])
    .where('domains.fqdn', 'in', [...fqdns])
    .where(within(scopeOf(actor), 'vclGroups'))
    .orderBy('vclGroupDomains.groupId')
    .limit(maxGroups)
    .execute()
  return new Map(
    [...groupBy(rows, ({ fqdn }) => fqdn)].map(([fqdn, some]) => [
      fqdn,
      some.map(({ groupId }) => groupId),
    ]),
  )
}

/** A caller who may read all organizations may request a domain name that each of them has. */
const maxGroups = 200

/** The groups that have a domain now. */
export async function readGroupsWithDomain(
  { store }: StateService,
  actor: Actor,
  domainId: number,
): Promise<readonly number[]> {
  const rows = await store.queries
    .selectFrom('vclGroupDomains')
    .innerJoin('vclGroups', 'vclGroups.id', 'vclGroupDomains.groupId')
    .select('vclGroups.id')
    .where('vclGroupDomains.domainId', '=', domainId)
    .where(within(scopeOf(actor), 'vclGroups'))
    .orderBy('vclGroups.id')
    .limit(maxGroups)
    .execute()
  return rows.map(({ id }) => id)
}

async function readOwnGroups(
  { store }: StateService,
  actor: Actor,
  ids: readonly number[],
): Promise<readonly number[]> {
  if (ids.length === 0) return []
  const rows = await store.queries
    .selectFrom('vclGroups')
    .select('vclGroups.id')
    .where('vclGroups.id', 'in', [...new Set(ids)])
    .where(within(scopeOf(actor), 'vclGroups'))
    .execute()
  return rows.map(({ id }) => id)
}
