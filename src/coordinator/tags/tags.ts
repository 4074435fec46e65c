/** Tags: what an organization labels its agents with. A tag that an agent sends is static and belongs to the agent. */
import type { Actor } from '../../resources/permission.js'
import { tag } from '../../resources/tag.js'
import { FleetError } from '../../errors.js'
import { releaseAdoptedTags } from '../fleet/adoption-queries.js'
import {
  deleteTag as deleteTagRow,
  fromRow,
  insertTag,
  readDeploymentsWithTag,
  selectTags,
  tagColumns,
  type TagRecord,
} from '../fleet/tag-queries.js'
import { readUsingGroups } from '../fleet/using-groups.js'
import { updateRow } from '../store/write-rows.js'
import { isSame, mergeWritten } from '../store/resource-rows.js'
import { chooseOwner, deleteUnused, usersNamed, withUniqueName } from '../api/find-references.js'
import { readingOf } from '../api/noun-reading.js'
import type { CreateBody, UpdateBody } from '../api/resource-schemas.js'
import type { StateService } from '../service.js'

export const tagReading = readingOf({
  noun: 'tag',
  select: selectTags,
  columnsFor: () => tagColumns,
  toRecords: (rows) => rows.map(fromRow),
})

export async function createTag(
  service: StateService,
  actor: Actor,
  wanted: CreateBody<typeof tag.fields>,
): Promise<TagRecord> {
  const { store } = service
  const fields = mergeWritten(tag, wanted)
  const owner = await chooseOwner(store.queries, actor, wanted.organization, 'tag')
  const id = await withUniqueName(fields.name, 'tag', () =>
    store.transaction((queries) => insertTag(queries, owner, fields, service.now())),
  )
  return tagReading.readAgain(service, actor, id)
}

/** Throws 'conflict' for another name of a tag that an agent sends. */
export async function updateTag(
  service: StateService,
  actor: Actor,
  before: TagRecord,
  change: UpdateBody<typeof tag.fields>,
): Promise<TagRecord> {
  const fields = mergeWritten(tag, change, before)
  if (isSame(fields, before)) return before
  if (fields.name !== before.name) refuseStatic(before)
  await withUniqueName(fields.name, 'tag', () =>
    service.store.transaction((queries) =>
      updateRow(queries, 'tags', before.id, { ...fields, updatedAt: service.now() }),
    ),
  )
  return tagReading.readAgain(service, actor, before.id)
}

export async function deleteTag(service: StateService, found: TagRecord): Promise<void> {
  const { store } = service
  await deleteUnused(
    'the stage of VCL group',
    'tag',
    () => readUsingGroups(store.queries, ['stageUses.tagId'], found.id, usersNamed),
    () =>
      deleteUnused(
        'deployment',
        'tag',
        () => readDeploymentsWithTag(store.queries, found.id, usersNamed),
        () =>
          store.transaction(async (queries) => {
            // What nothing asks for any more, adopted agents need not bear.
            await releaseAdoptedTags(queries, [found.id])
            const left = await tagReading.find(queries, { kind: 'all' }, found.id)
            if (left) refuseStatic(left)
            await deleteTagRow(queries, found.id)
          }),
      ),
  )
}

function refuseStatic(found: TagRecord): void {
  if (found.static)
    throw new FleetError(
      'conflict',
      'tag',
      `${JSON.stringify(found.name)} is static: an agent sends it (--tags), so change it there; or it came with the VCL that an agent adopted, and a deployment asks for it`,
    )
}
