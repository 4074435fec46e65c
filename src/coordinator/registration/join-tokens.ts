/** Join tokens: shown once when created, stored as digests, used up by enrolling agents (docs/behaviour.md, Join tokens). */
import { randomBytes } from 'node:crypto'
import type { joinToken } from '../../resources/join-token.js'
import { printJoinToken } from '../../resources/join-token-text.js'
import { parseName } from '../../resources/names.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { keepTags } from '../fleet/agent-tags.js'
import {
  deleteJoinTokenRow,
  insertJoinToken,
  joinTokenReading,
  type JoinTokenRecord,
} from './join-token-queries.js'
import { readUsableTagIds } from '../fleet/tag-queries.js'
import { digestToken } from '../identity/tokens.js'
import type { Queries } from '../store/store.js'
import { chooseOwner, requireAll } from '../api/find-references.js'
import type { CreateBody } from '../api/resource-schemas.js'
import { scopeOf, type StateService } from '../service.js'

export interface WantedJoinToken extends Pick<
  CreateBody<typeof joinToken.fields>,
  'label' | 'expires' | 'maxUses' | 'organization'
> {
  /** By id, or by name: a missing tag of that name is created. */
  readonly tags?: readonly ({ readonly id: number } | string)[] | null | undefined
}

/** The only response that contains the token itself. Throws 'invalid' naming the key. */
export async function createJoinToken(
  service: StateService,
  actor: Actor,
  wanted: WantedJoinToken,
): Promise<{ readonly token: string; readonly record: JoinTokenRecord }> {
  const now = service.now()
  const { queries } = service.store
  const label = parseName(wanted.label, 'jointoken', 'label')
  const owner = await chooseOwner(queries, actor, wanted.organization, 'jointoken')
  const maxUses = wanted.maxUses ?? 1
  const expiresAt = readExpiry(wanted.expires ?? null, now)
  const token = randomBytes(32).toString('base64url')
  const digest = digestToken(token)
  const id = await service.store.transaction(async (inside) => {
    const tagIds = await readTags(inside, owner, wanted.tags ?? [], now)
    const columns = { organizationId: owner, label, digest, expiresAt, maxUses, tagIds }
    return insertJoinToken(inside, columns, now)
  })
  const text = printJoinToken({ token, fingerprint: service.caFingerprint ?? null })
  return { token: text, record: await joinTokenReading.readAgain(service, actor, id) }
}

/** Enrolled agents stay. Throws 'not-found' if another call has just deleted it. */
export async function deleteJoinToken(
  { store }: StateService,
  { id }: Pick<JoinTokenRecord, 'id'>,
  actor: Actor,
): Promise<void> {
  if (!(await deleteJoinTokenRow(store.queries, scopeOf(actor), id)))
    throw new FleetError('not-found', 'jointoken', `${id} was not found`)
}

function readExpiry(expires: number | null, now: number): number | null {
  if (expires === null) return null
  if (Number.isSafeInteger(expires) && expires * 1000 > now) return expires * 1000
  throw new FleetError('invalid', 'jointoken', 'expires must be epoch seconds in the future')
}

async function readTags(
  queries: Queries,
  owner: number | null,
  wanted: NonNullable<WantedJoinToken['tags']>,
  now: number,
): Promise<number[]> {
  const references = wanted.filter((tag) => typeof tag !== 'string')
  const names = wanted.filter((tag) => typeof tag === 'string')
  const byId = await requireAll(references, 'tags', 'jointoken', (ids) =>
    readUsableTagIds(queries, owner, ids),
  )
  const parsed = names.map((name) => parseName(name, 'jointoken', 'tags'))
  return [...new Set([...byId, ...(await keepTags(queries, owner, parsed, now))])]
}
