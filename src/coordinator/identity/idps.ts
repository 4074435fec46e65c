/** Identity providers: one per organization. Only administrators may let a provider's roles decide what users may do. */
import { Type, type Static } from 'typebox'
import { idp } from '../../resources/idp.js'
import { may, type Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { idpReading, type IdpFields, type IdpRecord } from './idp-queries.js'
import { isSame, mergeWritten, toRow } from '../store/resource-rows.js'
import { isUniqueViolation } from '../store/violation.js'
import { deleteRow, insertRow, updateRow } from '../store/write-rows.js'
import type { Identity } from './identity.js'
import { parseBaseUrl } from './provider-address.js'
import { sealClientSecret } from './provider-secret.js'
import { scopeOf, type StateService } from '../service.js'
import { chooseOwner } from '../api/find-references.js'
import { orNull } from '../api/references.js'
import { createBody, updateBody, withOthers } from '../api/resource-schemas.js'

/** RFC 6749: characters of a scope, of a client's id and of its secret. */
const scopeForm = /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/
const clientForm = /^[\x20-\x7e]{1,1024}$/
const maxScopes = 50
const claimForm = /^[\x20-\x7e]{0,255}$/

/** Keys whose form in a request differs from the response, or which no response contains. */
const writtenOnly = {
  clientSecret: Type.Optional(
    orNull(Type.String({ description: 'never answered; null: a client without one' })),
  ),
  scopes: Type.Optional(
    orNull(
      Type.Union([Type.Array(Type.String()), Type.String()], {
        description: 'a list, or words separated by blanks; openid is always asked for',
      }),
    ),
  ),
}
export const idpBodies = {
  create: withOthers(createBody(idp.fields), writtenOnly),
  update: withOthers(updateBody(idp.fields), writtenOnly),
}

/** Null resets a field to its default; an omitted key keeps its value. */
type IdpChange = Static<typeof idpBodies.update>

/** Throws 'conflict' if the organization already has one, 'forbidden' for a role claim unless the caller may write `perm`. */
export async function createIdp(
  identity: Identity,
  actor: Actor,
  { organization, ...wanted }: Static<typeof idpBodies.create>,
): Promise<IdpRecord> {
  const { service } = identity
  const { queries } = service.store
  const owner = await chooseOwner(queries, actor, organization, 'idp')
  if (owner === null)
    throw refused('organization', 'it is missing; the system administrator has to give it as {id}')
  requireAuthority(actor, mergeFields(identity, wanted))
  try {
    const id = await identity.sealing.write(service.store, (changes) => {
      const row = { organizationId: owner, ...toIdpRow(mergeFields(identity, wanted)) }
      return insertRow(changes, 'idps', row, service.now())
    })
    return await idpReading.readAgain(service, actor, id)
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new FleetError(
      'conflict',
      'idp',
      'the organization already has an identity provider; update that one',
    )
  }
}

/** Throws 'forbidden' like createIdp: for every change that leaves a role claim set. */
export async function changeIdp(
  identity: Identity,
  actor: Actor,
  before: IdpRecord,
  change: IdpChange,
): Promise<IdpRecord> {
  const { service } = identity
  const { id } = before
  const fields = mergeFields(identity, change, before)
  if (isSame(fields, before)) return before
  requireAuthority(actor, fields)
  await identity.sealing.write(service.store, async (queries) => {
    // Reads again: a key rotation may have resealed the secret since `before` was read.
    const now = (await idpReading.find(queries, scopeOf(actor), id)) ?? before
    const row = toIdpRow(mergeFields(identity, change, now))
    await updateRow(queries, 'idps', id, { ...row, updatedAt: service.now() })
  })
  return idpReading.readAgain(service, actor, id)
}

/** Keeps the accounts of its users; a recreated provider finds them again. */
export async function deleteIdp({ store }: StateService, { id }: IdpRecord): Promise<void> {
  await store.transaction((queries) => deleteRow(queries, 'idps', id))
}

function toIdpRow({ sealedClientSecret, ...fields }: IdpFields) {
  return { ...toRow(idp.fields, fields), sealedClientSecret }
}

/** Without `before` the provider is new. */
function mergeFields(identity: Identity, change: IdpChange, before?: IdpFields): IdpFields {
  const { baseURL, clientID, clientSecret, scopes, roleClaim } = change
  if (clientID !== undefined && !clientForm.test(clientID))
    throw refused('clientID', 'it must have 1 to 1024 printable ASCII characters')
  if (roleClaim && !claimForm.test(roleClaim))
    throw refused('roleClaim', 'it must have at most 255 printable ASCII characters')
  const given = {
    ...change,
    ...(baseURL !== undefined && { baseURL: parseBaseUrl(baseURL) }),
    ...(scopes !== undefined && { scopes: scopes && readScopes(scopes) }),
  }
  const fields = mergeWritten(idp, given, before)
  // A stored secret is never sent to a changed address: a caller that changes the address must send the secret again.
  const keptSecret = fields.baseUrl === before?.baseUrl ? before.sealedClientSecret : null
  const sealedClientSecret =
    clientSecret === undefined ? keptSecret : sealGiven(identity, clientSecret)
  return { ...fields, sealedClientSecret }
}

function sealGiven({ sealing }: Identity, secret: string | null): string | null {
  if (secret === null) return null
  if (!clientForm.test(secret))
    throw refused(
      'clientSecret',
      'it must have 1 to 1024 printable ASCII characters, or be null for none',
    )
  return sealClientSecret(sealing, secret)
}

function readScopes(given: string | readonly string[]): readonly string[] {
  const scopes = [...new Set(typeof given === 'string' ? given.split(' ').filter(Boolean) : given)]
  if (scopes.length > maxScopes || !scopes.every((scope) => scopeForm.test(scope)))
    throw refused(
      'scopes',
      `it must be a list of at most ${maxScopes} words such as openid, profile`,
    )
  return scopes
}

/**
 * A provider with a role claim can create administrators, so setting one up needs write on `perm`
 * (docs/behaviour.md, Permissions).
 */
function requireAuthority(actor: Actor, { roleClaim }: IdpFields): void {
  if (roleClaim === '' || may(actor, 'perm', 'write')) return
  throw new FleetError(
    'forbidden',
    'idp',
    'roleClaim lets the provider make administrators: setting it needs write permission on perm',
  )
}

function refused(key: string, problem: string): FleetError {
  return new FleetError('invalid', 'idp', `${key}: ${problem}`)
}
