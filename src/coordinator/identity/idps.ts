/** Identity providers: one for each organization. Who decides by roles what people may do holds what an administrator holds. */
import { parseListQuery } from '../../resources/list-query.js'
import { may, type Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import {
  deleteIdp as deleteIdpRow,
  findIdp as findIdpRow,
  fromRow,
  idpColumns,
  insertIdp,
  selectIdps,
  updateIdp as updateIdpRow,
  type IdpFields,
  type IdpRecord,
} from './idp-queries.js'
import { isUniqueViolation } from '../store/violation.js'
import type { Identity } from './identity.js'
import { parseBaseUrl } from './provider-address.js'
import { sealClientSecret } from './provider-secret.js'
import { scopeOf, type StateService } from '../service.js'
import type { ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import { chooseOwner, type OwnerReference } from '../api/find-references.js'

export type { IdpRecord } from './idp-queries.js'

export const idpListFields = Object.keys(idpColumns)

/** Chosen by us. */
const defaultScopes: readonly string[] = ['openid', 'profile', 'email']
/** RFC 6749: characters of a scope, of a client's id and of its secret. */
const scopeForm = /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/
const clientForm = /^[\x20-\x7e]{1,1024}$/
/** Chosen by us. */
const scopesMost = 50
const claimForm = /^[\x20-\x7e]{0,255}$/

export async function listIdps(
  { store }: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<LongListAnswer<IdpRecord>> {
  const list = parseListQuery(query, idpColumns, 'idp')
  return readLongList(selectIdps(store.queries, scopeOf(actor)), list, idpColumns, (rows) =>
    rows.map(fromRow),
  )
}

export async function findIdp(
  { store }: StateService,
  actor: Actor,
  id: number,
): Promise<IdpRecord | undefined> {
  return findIdpRow(store.queries, scopeOf(actor), id)
}

/** Null: back to the default; left out: as it is. */
interface IdpChange {
  readonly baseURL?: string
  readonly clientID?: string
  readonly clientSecret?: string | null
  /** A list, or words separated by blanks. */
  readonly scopes?: string | readonly string[] | null
  readonly roleClaim?: string | null
}

interface NewIdp extends IdpChange {
  readonly baseURL: string
  readonly clientID: string
  readonly organization?: OwnerReference
}

/** Throws 'conflict' when the organization has one, 'forbidden' for a role claim from whoever is no administrator. */
export async function createIdp(
  identity: Identity,
  actor: Actor,
  { organization, ...wanted }: NewIdp,
): Promise<IdpRecord> {
  const { service } = identity
  const { queries } = service.store
  const owner = await chooseOwner(queries, actor, organization, 'idp')
  if (owner === null)
    throw refused('organization', 'it is missing: the system administrator says which by {id}')
  requireAuthority(actor, mergeFields(identity, wanted, empty))
  try {
    const id = await identity.sealing.write(service.store, (changes) =>
      insertIdp(changes, owner, mergeFields(identity, wanted, empty), service.now()),
    )
    return await readAgain(service, actor, id)
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new FleetError('conflict', 'idp', 'the organization has an identity provider; change it')
  }
}

/** Throws 'forbidden' as createIdp does, also for a change of what has a role claim. */
export async function changeIdp(
  identity: Identity,
  actor: Actor,
  idp: IdpRecord,
  change: IdpChange,
): Promise<IdpRecord> {
  const { service } = identity
  const fields = mergeFields(identity, change, idp)
  if (JSON.stringify(fieldsOf(fields)) === JSON.stringify(fieldsOf(idp))) return idp
  requireAuthority(actor, fields)
  await identity.sealing.write(service.store, async (queries) => {
    // Its secret may have been sealed with another key since it was read.
    const now = (await findIdpRow(queries, scopeOf(actor), idp.id)) ?? idp
    await updateIdpRow(queries, idp.id, mergeFields(identity, change, now), service.now())
  })
  return readAgain(service, actor, idp.id)
}

/** The accounts that came in by it stay, and are the same when it is made again. */
export async function deleteIdp({ store }: StateService, idp: IdpRecord): Promise<void> {
  await store.transaction((queries) => deleteIdpRow(queries, idp.id))
}

const empty: IdpFields = {
  baseUrl: '',
  clientId: '',
  sealedClientSecret: null,
  scopes: defaultScopes,
  roleClaim: '',
}

function fieldsOf(fields: IdpFields): readonly unknown[] {
  const { baseUrl, clientId, sealedClientSecret, scopes, roleClaim } = fields
  return [baseUrl, clientId, sealedClientSecret, scopes, roleClaim]
}

function mergeFields(identity: Identity, change: IdpChange, before: IdpFields): IdpFields {
  const { baseURL, clientID, clientSecret, scopes, roleClaim } = change
  if (clientID !== undefined && !clientForm.test(clientID))
    throw refused('clientID', '1 to 1024 printable ASCII characters are right')
  if (roleClaim && !claimForm.test(roleClaim))
    throw refused('roleClaim', 'at most 255 printable ASCII characters are right')
  const baseUrl = baseURL === undefined ? before.baseUrl : parseBaseUrl(baseURL)
  // Chosen by us: a secret that nobody can read is not sent to an address of somebody's choice; it is given again with it.
  const keptSecret = baseUrl === before.baseUrl ? before.sealedClientSecret : null
  return {
    baseUrl,
    clientId: clientID ?? before.clientId,
    sealedClientSecret: clientSecret === undefined ? keptSecret : sealGiven(identity, clientSecret),
    scopes: scopes === undefined ? before.scopes : readScopes(scopes),
    roleClaim: roleClaim === undefined ? before.roleClaim : (roleClaim ?? ''),
  }
}

function sealGiven({ sealing }: Identity, secret: string | null): string | null {
  if (secret === null) return null
  if (!clientForm.test(secret))
    throw refused('clientSecret', '1 to 1024 printable ASCII characters are right; null: none')
  return sealClientSecret(sealing, secret)
}

function readScopes(given: string | readonly string[] | null): readonly string[] {
  const words = typeof given === 'string' ? given.split(' ').filter(Boolean) : given
  const scopes = [...new Set(words ?? defaultScopes)]
  if (scopes.length > scopesMost || !scopes.every((scope) => scopeForm.test(scope)))
    throw refused('scopes', `at most ${scopesMost} words such as openid, profile are right`)
  return scopes
}

/**
 * Chosen by us: a provider with a role claim makes administrators, so whoever sets one up holds write on `perm`
 * (choices: 2, "nobody else grants more than they hold").
 */
function requireAuthority(actor: Actor, { roleClaim }: IdpFields): void {
  if (roleClaim === '' || may(actor, 'perm', 'write')) return
  throw new FleetError(
    'forbidden',
    'idp',
    'roleClaim lets the provider make administrators: setting up such a one needs permission to write perm',
  )
}

function refused(key: string, problem: string): FleetError {
  return new FleetError('invalid', 'idp', `${key}: ${problem}`)
}

async function readAgain(service: StateService, actor: Actor, id: number): Promise<IdpRecord> {
  const idp = await findIdp(service, actor, id)
  if (!idp) throw new FleetError('not-found', 'idp', `${id} was not found`)
  return idp
}
