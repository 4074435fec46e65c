/**
 * Events of what users edit: files, domains and tags as their lists have them; of a group, which may have thousands of places, its
 * name, also where its backends became sick or healthy.
 */
import type { OptInEventType } from '../../resources/event.js'
import { selectDomains, toDomain, type DomainRecord } from '../domains/domain-queries.js'
import type { NewEvent } from './event-queries.js'
import { readRollouts, type RolloutRecord } from '../fleet/rollout-queries.js'
import { selectFiles, toFile, type FileRecord } from '../files/file-queries.js'
import { selectOwned } from '../store/owned-rows.js'
import { toOwner, type NamedReference } from '../store/owner.js'
import { within } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { fromRow as toTag, selectTags, type TagRecord } from '../fleet/tag-queries.js'

/** Views of the API for changed objects. */
export interface EditedViews {
  file(file: FileRecord): object
  vclgroup(group: EditedObject): object
  domain(domain: DomainRecord): object
  tag(tag: TagRecord): object
  certificate(certificate: EditedObject): object
  backend(group: EditedObject): object
  webhook(webhook: EditedObject): object
  rollout(rollout: RolloutRecord): object
}

/** For a group, a certificate or a webhook. */
export interface EditedObject extends NamedReference {
  readonly organization: NamedReference | null
}

const everything = { kind: 'all' } as const

/** Objects deleted in the meantime are omitted. */
export async function composeEdited(
  queries: Queries,
  changed: Readonly<Record<OptInEventType, readonly number[]>>,
  views: EditedViews,
): Promise<Omit<NewEvent, 'createdAt'>[]> {
  const files = await readSome(changed.file, async (ids) => {
    const rows = await selectFiles(queries, everything).where('files.id', 'in', ids).execute()
    return rows.map(toFile)
  })
  const domains = await readSome(changed.domain, async (ids) => {
    const rows = await selectDomains(queries, everything).where('domains.id', 'in', ids).execute()
    return rows.map(toDomain)
  })
  const tags = await readSome(changed.tag, async (ids) => {
    const rows = await selectTags(queries, everything).where('tags.id', 'in', ids).execute()
    return rows.map(toTag)
  })
  const groups = await readSome(changed.vclgroup, (ids) => readEdited(queries, 'vclGroups', ids))
  const affected = await readSome(changed.backend, (ids) => readEdited(queries, 'vclGroups', ids))
  const rollouts = await readSome(changed.rollout, (ids) => readRollouts(queries, ids))
  const certificates = await readSome(changed.certificate, (ids) =>
    readEdited(queries, 'certificates', ids),
  )
  const webhooks = await readSome(changed.webhook, (ids) => readEdited(queries, 'webhooks', ids))
  return [
    ...files.map((file) => toEvent('file', file, views.file(file))),
    ...domains.map((domain) => toEvent('domain', domain, views.domain(domain))),
    ...tags.map((tag) => toEvent('tag', tag, views.tag(tag))),
    ...groups.map((group) => toEvent('vclgroup', group, views.vclgroup(group))),
    ...certificates.map((one) => toEvent('certificate', one, views.certificate(one))),
    ...webhooks.map((one) => toEvent('webhook', one, views.webhook(one))),
    ...rollouts.map((one) => toEvent('rollout', one, views.rollout(one))),
    ...affected.map((group) => toEvent('backend', group, views.backend(group))),
  ]
}

/** Queries nothing if nothing changed. */
async function readSome<T>(
  ids: readonly number[],
  read: (ids: number[]) => Promise<T[]>,
): Promise<T[]> {
  return ids.length === 0 ? [] : read([...ids])
}

async function readEdited(
  queries: Queries,
  table: 'vclGroups' | 'certificates' | 'webhooks',
  ids: number[],
): Promise<EditedObject[]> {
  const rows = await selectOwned(queries, table, within(everything, table))
    .where(`${table}.id`, 'in', ids)
    .execute()
  return rows.map((row) => ({ id: row.id, name: row.name, organization: toOwner(row) }))
}

function toEvent(
  type: OptInEventType,
  { organization }: { readonly organization: NamedReference | null },
  view: object,
): Omit<NewEvent, 'createdAt'> {
  return {
    type,
    organizationId: organization?.id ?? null,
    about: null,
    data: JSON.stringify(view),
    sharedData: null,
  }
}
