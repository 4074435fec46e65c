/** Searches objects of every type that the user may read by a part of their names; one call per type, a few results each. */
import { call } from '../api/call.js'
import type { PermissionType } from '../../resources/permission.js'
import { mayRead } from '../session/rights.js'
import { composePattern, type FoundObject, type NounSearch } from './list-commands.js'

const noun = (path: string, needs: PermissionType, kind: string, view: string) => ({
  path,
  needs,
  kind,
  view,
  field: 'name' as NounSearch['field'],
})

const nouns = [
  noun('/vclgroups', 'vclgroup', 'Group', '/groups'),
  noun('/agents', 'agent', 'Cache', '/caches'),
  noun('/files', 'file', 'File', '/files'),
  { ...noun('/domains', 'domain', 'Domain', '/domains'), field: 'fqdn' as const },
  noun('/deployments', 'deployment', 'Deployment', '/deployments'),
  noun('/tags', 'tag', 'Tag', '/tags'),
  noun('/certificates', 'certificate', 'Certificate', '/certificates'),
]

/** Maximum per type. */
const maxFound = 6

export async function findObjects(
  name: string,
  signal: AbortSignal,
): Promise<readonly FoundObject[]> {
  const asked = nouns.filter(({ needs }) => mayRead(needs))
  const found = await Promise.all(asked.map((one) => findOfNoun(one, name, signal)))
  return found.flat()
}

type Row = { readonly id: number } & Partial<Readonly<Record<NounSearch['field'], string>>>

/** A type that cannot be read now yields no results. */
async function findOfNoun(
  of: NounSearch,
  name: string,
  signal: AbortSignal,
): Promise<readonly FoundObject[]> {
  const query = new URLSearchParams({
    [of.field]: composePattern(name),
    sort: of.field,
    take: String(maxFound),
  })
  const outcome = await call<readonly Row[]>('GET', `${of.path}?${query}`, { signal })
  if (!outcome.ok) return []
  return outcome.value.map((row) => ({ noun: of, id: row.id, name: row[of.field] ?? '' }))
}
