/** Tags: what an organization labels its agents with. A tag that an agent sends is static and belongs to the agent. */
import { parseListQuery } from '../../resources/list-query.js'
import { parseName } from '../../resources/names.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { releaseAdoptedTags } from '../fleet/adoption-queries.js'
import { tagColumns } from '../fleet/list-columns.js'
import {
  deleteTag as deleteTagRow,
  findTag as findTagRow,
  fromRow,
  insertTag,
  readDeploymentsWithTag,
  selectTags,
  updateTag as updateTagRow,
  type TagRecord,
} from '../fleet/tag-queries.js'
import { readGroupsStagedWithTag } from '../fleet/stage-queries.js'
import type { ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import {
  chooseOwner,
  deleteUnused,
  mergeManagedBy,
  requireOwner,
  unmanaged,
  usersNamed,
  withUniqueName,
  type OwnerReference,
} from '../api/find-references.js'
import { scopeOf, type StateService } from '../service.js'

export type { TagRecord } from '../fleet/tag-queries.js'

export const tagListFields = Object.keys(tagColumns)

export async function listTags(
  service: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<LongListAnswer<TagRecord>> {
  const list = parseListQuery(query, tagColumns, 'tag')
  const tags = selectTags(service.store.queries, scopeOf(actor))
  return readLongList(tags, list, tagColumns, (rows) => rows.map(fromRow))
}

export async function findTag(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<TagRecord | undefined> {
  return findTagRow(service.store.queries, scopeOf(actor), id)
}

/** Throws 'forbidden' for a tag that is only shared with the caller. */
export async function findChangeableTag(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<TagRecord | undefined> {
  const tag = await findTag(service, actor, id)
  if (tag) requireOwner(actor, tag, 'tag')
  return tag
}

/** As a body has it: a key that is left out keeps its value. */
interface TagChange {
  readonly name?: string | undefined
  readonly managedBy?: string | null | undefined
}

interface NewTag extends TagChange {
  readonly name: string
  readonly organization?: OwnerReference
}

export async function createTag(
  service: StateService,
  actor: Actor,
  wanted: NewTag,
): Promise<TagRecord> {
  const { store } = service
  const name = parseName(wanted.name, 'tag')
  const owner = await chooseOwner(store.queries, actor, wanted.organization, 'tag')
  const managedBy = mergeManagedBy(unmanaged, wanted.managedBy, 'tag')
  const id = await withUniqueName(name, 'tag', () =>
    store.transaction((queries) => insertTag(queries, owner, { name, managedBy }, service.now())),
  )
  return readAgain(service, actor, id)
}

/** Throws 'conflict' for another name of a tag that an agent sends. */
export async function updateTag(
  service: StateService,
  actor: Actor,
  tag: TagRecord,
  change: TagChange,
): Promise<TagRecord> {
  const name = change.name === undefined ? tag.name : parseName(change.name, 'tag')
  const managedBy = mergeManagedBy(tag, change.managedBy, 'tag')
  if (name === tag.name && managedBy === tag.managedBy) return tag
  if (name !== tag.name) refuseStatic(tag)
  await withUniqueName(name, 'tag', () =>
    service.store.transaction((queries) =>
      updateTagRow(queries, tag.id, { name, managedBy }, service.now()),
    ),
  )
  return readAgain(service, actor, tag.id)
}

export async function deleteTag(service: StateService, tag: TagRecord): Promise<void> {
  const { store } = service
  await deleteUnused(
    'the stage of VCL group',
    'tag',
    () => readGroupsStagedWithTag(store.queries, tag.id, usersNamed),
    () =>
      deleteUnused(
        'deployment',
        'tag',
        () => readDeploymentsWithTag(store.queries, tag.id, usersNamed),
        () =>
          store.transaction(async (queries) => {
            // What nothing asks for any more, adopted agents need not bear.
            await releaseAdoptedTags(queries, [tag.id])
            const left = await findTagRow(queries, { kind: 'all' }, tag.id)
            if (left) refuseStatic(left)
            await deleteTagRow(queries, tag.id)
          }),
      ),
  )
}

function refuseStatic(tag: TagRecord): void {
  if (tag.static)
    throw new FleetError(
      'conflict',
      'tag',
      `${JSON.stringify(tag.name)} is static: an agent sends it (--tags), so change it there; or it came with the VCL that an agent adopted, and a deployment asks for it`,
    )
}

async function readAgain(service: StateService, actor: Actor, id: number): Promise<TagRecord> {
  const tag = await findTag(service, actor, id)
  if (!tag) throw new FleetError('not-found', 'tag', `${id} was not found`)
  return tag
}
