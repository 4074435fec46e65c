/** Reads the organization's current objects in the form that documents use. */
import type { ApplyFields, ApplyKind, Pins, PresentObject } from './apply-objects.js'
import type { Api } from '../api.js'
import { idOf, isFields, nameOf, requireList, type Fields } from '../api-shapes.js'
import { readGroup } from '../deploy-verdict.js'
import { listOf } from './bodies.js'
import { mapReferences, readPlainFields } from './plain-fields.js'
import { nouns } from './wanted.js'

export interface Present {
  readonly objects: readonly PresentObject[]
  /** Name → id of shared agents' tags, which documents may reference. */
  readonly sharedTags: ReadonlyMap<string, number>
}

/** `organizationId`: null for the system administrator's own objects. */
export async function readPresent(
  api: Api,
  kinds: ReadonlySet<ApplyKind>,
  organizationId: unknown,
): Promise<Present> {
  const lists = new Map<ApplyKind, readonly Fields[]>()
  for (const kind of kinds) lists.set(kind, await api.readList(nouns[kind].path))
  const isOwn = (row: Fields): boolean => idOf(row['organization']) === organizationId
  const deployments = namesById(lists.get('deployment') ?? [])
  const objects = [...lists].flatMap(([kind, rows]) =>
    rows.filter(isOwn).map((row) => toObject(kind, row, deployments)),
  )
  const shared = (lists.get('tag') ?? []).filter(
    (row) => !isOwn(row) && row['organization'] === null,
  )
  return {
    objects,
    sharedTags: new Map(shared.map((row) => [nameOf(row) ?? '', Number(row['id'])])),
  }
}

function toObject(
  kind: ApplyKind,
  row: Fields,
  deployments: ReadonlyMap<unknown, string>,
): PresentObject {
  const { managedBy, version, updated, deployed, static: isSent } = row
  return {
    kind,
    name: nameOf(row) ?? '',
    id: Number(row['id']),
    fields: toFields(kind, row),
    managedBy: typeof managedBy === 'string' ? managedBy : null,
    updated: String(updated),
    ...(kind === 'tag' ? { isSent: isSent === true } : {}),
    ...(kind === 'file' ? { version: Number(version) } : {}),
    ...(kind === 'vclgroup'
      ? {
          deployed: deployed === true,
          isOfConsole: row['console'] === true,
          pins: toPins(row['wish'], deployments),
          hasFailed: readGroup(row).places.some(({ state }) => state === 'failed'),
        }
      : {}),
  }
}

function toFields(kind: ApplyKind, row: Fields): ApplyFields {
  const fields = {
    ...readPlainFields(kind, (field) => row[field]),
    ...mapReferences(kind, (field) => namesOf(row[field])),
  }
  const main = row['mainVCL']
  if (kind === 'vclgroup')
    return { ...fields, mainVCL: nameOf(main) ?? '', mainVersion: versionOf(main) }
  if (kind !== 'file') return fields
  // The API returns the digest in literal quotes.
  const sha = String(row['sha']).replaceAll('"', '')
  return { ...fields, sha, fileType: Number(row['fileType']) }
}

function toPins(wish: unknown, deployments: ReadonlyMap<unknown, string>): Pins | undefined {
  if (!isFields(wish)) return undefined
  const main = wish['mainVCL']
  const files = [main, ...requireList(wish['includes'])]
  return {
    mainVCL: nameOf(main) ?? '',
    files: new Map(files.map((file) => [nameOf(file) ?? '', versionOf(file) ?? 0])),
    domains: namesOf(wish['domains']),
    deployments: requireList(wish['deployments']).map(({ id }) => deployments.get(id) ?? ''),
    releases: listOf(wish['releases']),
    pending: wish['pending'] === true,
  }
}

function namesById(rows: readonly Fields[]): ReadonlyMap<unknown, string> {
  return new Map(rows.map((row) => [row['id'], nameOf(row) ?? '']))
}

function namesOf(references: unknown): readonly string[] {
  return requireList(references)
    .map((reference) => nameOf(reference) ?? '')
    .toSorted()
}

function versionOf(file: unknown): number | null {
  const version = isFields(file) ? file['version'] : undefined
  return typeof version === 'number' ? version : null
}
