/**
 * `cachefleetd secret rotate` seals everything in the store with a new secret key; `secret reset` is the way to continue after
 * the key is lost.
 */
import { FleetError } from '../../errors.js'
import {
  forgetSealedTexts,
  listSealedTexts,
  replaceSealedText,
  sealedPurposes,
  writeSealedBy,
  type SealedText,
} from './sealed-texts.js'
import { selectIdps } from './idp-queries.js'
import { deleteLoginCodes } from './idp-logins.js'
import { deleteAllSessions } from './session-queries.js'
import type { Queries, Store } from '../store/store.js'
import { findStoreKey } from './sealing.js'
import {
  readSecretKey,
  removePreviousKey,
  replaceSecretKey,
  setAsideBadKey,
} from './secret-key-file.js'
import { makeSecretKey, openText, sealText, type SecretKey } from './secret-key.js'

/**
 * Coordinators may be running. The files are also written under the decision lock, so that a second rotation starts from the
 * result of the first. After a kill between the files and the commit, the key beside the file is in force, and the next
 * rotation continues with the key in the file. Returns how many secrets were sealed again.
 */
export async function rotateSecretKey(store: Store, file: string): Promise<number> {
  const count = await store.decide(async (queries) => {
    const before = await findStoreKey(queries, file)
    if (!before) throw nothingSealed()
    const next = await prepareKey(file, before)
    const texts = await listSealedTexts(queries)
    for (const text of texts) await replaceSealedText(queries, sealAnew(text, { before, next }))
    await writeSealedBy(queries, next.id)
    return texts.length
  })
  await store.decide(async (queries) => {
    const inFile = await readSecretKey(file)
    if (inFile && inFile.id === (await findStoreKey(queries, file))?.id)
      await removePreviousKey(file)
  })
  return count
}

async function prepareKey(file: string, before: SecretKey): Promise<SecretKey> {
  const inFile = await readSecretKey(file)
  if (inFile && inFile.id !== before.id) return inFile
  const next = makeSecretKey()
  await replaceSecretKey(file, before, next).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    const message = `--secret-key-file: ${file} cannot be replaced: ${why}; the store is sealed as before`
    throw new FleetError('unavailable', 'store', message, { cause: error })
  })
  return next
}

function sealAnew(
  { kind, id, sealed }: SealedText,
  { before, next }: { readonly before: SecretKey; readonly next: SecretKey },
): SealedText {
  const purpose = sealedPurposes[kind]
  const text = openText(before, sealed, purpose)
  if (text === undefined)
    throw new FleetError(
      'unavailable',
      'store',
      `the ${purpose} in the store (${id}) are sealed with another key than the rest; nothing was changed`,
    )
  return { kind, id, sealed: sealText(next, text, purpose) }
}

function nothingSealed(): FleetError {
  return new FleetError(
    'conflict',
    'store',
    'nothing is sealed in this store yet: the next start of a coordinator makes a secret key',
  )
}

export interface ForgottenSecrets {
  readonly sessions: number
  /** Identity providers that now lack a client secret. */
  readonly providers: readonly ForgottenProvider[]
  /** Names of certificates that cannot be deployed until their key is provided again. */
  readonly certificates: readonly string[]
  /** Names of webhooks that are turned off until their address is provided again. */
  readonly webhooks: readonly string[]
  /** The new path of a key file that held no key; null: the file was valid. */
  readonly badKeyFile: string | null
}

interface ForgottenProvider {
  readonly id: number
  readonly baseUrl: string
  readonly organizationName: string
}

/** Throws FleetError 'conflict' while another process uses the store. */
export async function resetSecrets(
  store: Store,
  file: string,
  now: number,
): Promise<ForgottenSecrets> {
  if (await store.isUsedElsewhere())
    throw new FleetError(
      'conflict',
      'store',
      'another process uses the store: stop all coordinators of it, then reset the secrets',
    )
  const forgotten = await store.decide(async (queries) => {
    const providers = await listProvidersWithSecret(queries)
    const certificates = await listCertificatesWithKey(queries)
    const webhooks = await listWebhooks(queries)
    await forgetSealedTexts(queries, now)
    await deleteLoginCodes(queries)
    return { providers, certificates, webhooks, sessions: await deleteAllSessions(queries) }
  })
  return { ...forgotten, badKeyFile: await setAsideBadKey(file) }
}

async function listProvidersWithSecret(queries: Queries): Promise<ForgottenProvider[]> {
  const rows = await selectIdps(queries, { kind: 'all' })
    .where('idps.sealedClientSecret', 'is not', null)
    .orderBy('idps.id')
    .execute()
  return rows.map(({ id, baseUrl, organizationName }) => ({ id, baseUrl, organizationName }))
}

async function listCertificatesWithKey(queries: Queries): Promise<string[]> {
  const rows = await queries.selectFrom('certificates').select('name').orderBy('id').execute()
  return rows.map(({ name }) => name)
}

async function listWebhooks(queries: Queries): Promise<string[]> {
  const rows = await queries
    .selectFrom('webhooks')
    .select('name')
    .where('sealedUrl', 'is not', null)
    .orderBy('id')
    .execute()
  return rows.map(({ name }) => name)
}
