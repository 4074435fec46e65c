/** Join tokens: made once in plain sight, kept as digests, used up by agents that enrol (choices: 2, jointokens). */
import { randomBytes } from 'node:crypto'
import { parseListQuery } from '../../resources/list-query.js'
import { parseName } from '../../resources/names.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { keepTags } from '../fleet/agent-tags.js'
import {
  deleteJoinTokenRow,
  findJoinToken as findJoinTokenRow,
  insertJoinToken,
  selectJoinTokens,
  toJoinTokenRecords,
  type JoinTokenRecord,
} from './join-token-queries.js'
import { joinTokenColumns } from '../fleet/list-columns.js'
import { readUsableTagIds } from '../fleet/tag-queries.js'
import { digestSecret } from './agent-credentials.js'
import type { ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import type { Queries } from '../store/store.js'
import { chooseOwner, requireAll, type OwnerReference } from '../api/find-references.js'
import { scopeOf, type StateService } from '../service.js'

export type { JoinTokenRecord } from './join-token-queries.js'

export const joinTokenListFields = Object.keys(joinTokenColumns)

export interface WantedJoinToken {
  readonly label: string
  /** Epoch seconds; null or absent: never. */
  readonly expires?: number | null
  readonly maxUses?: number
  /** By id, or by name: a tag of that name is made when there is none. */
  readonly tags?: readonly ({ readonly id: number } | string)[]
  readonly organization?: OwnerReference
}

/** Chosen by us: a fleet of simulated agents enrols with one token. */
export const maxUsesMost = 100_000

/** The only answer that has the token itself. Throws 'invalid' naming the key. */
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
  if (!Number.isSafeInteger(maxUses) || maxUses < 1 || maxUses > maxUsesMost)
    throw new FleetError('invalid', 'jointoken', `maxUses must be 1 to ${maxUsesMost}`)
  const expiresAt = readExpiry(wanted.expires ?? null, now)
  const token = randomBytes(32).toString('base64url')
  const digest = digestSecret(token)
  const id = await service.store.transaction(async (inside) => {
    const tagIds = await readTags(inside, owner, wanted.tags ?? [], now)
    const columns = { organizationId: owner, label, digest, expiresAt, maxUses, tagIds }
    return insertJoinToken(inside, columns, now)
  })
  const record = await findJoinToken(service, actor, id)
  if (!record) throw new FleetError('not-found', 'jointoken', `${id} was not found`)
  return { token, record }
}

/** Two queries at most, and one more where the total is not told by the rows. */
export async function listJoinTokens(
  service: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<LongListAnswer<JoinTokenRecord>> {
  const { queries } = service.store
  const list = parseListQuery(query, joinTokenColumns, 'jointoken')
  return readLongList(selectJoinTokens(queries, scopeOf(actor)), list, joinTokenColumns, (rows) =>
    toJoinTokenRecords(queries, rows),
  )
}

export async function findJoinToken(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<JoinTokenRecord | undefined> {
  return findJoinTokenRow(service.store.queries, scopeOf(actor), id)
}

/** Agents that it enrolled stay. Throws 'not-found'. */
export async function deleteJoinToken(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<void> {
  if (!(await deleteJoinTokenRow(service.store.queries, scopeOf(actor), id)))
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
