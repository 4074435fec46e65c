/**
 * Seals and opens with the key that seals the store. `cachefleetd secret rotate` replaces that key while coordinators run:
 * each reads the new one from its file when its own key does not open a sealed text, or before it writes one.
 */
import { FleetError } from '../../errors.js'
import {
  listSealedTexts,
  readSealedBy,
  sealedPurposes,
  writeSealedBy,
  type SealedKind,
  type SealedText,
} from './sealed-texts.js'
import type { Queries, Store } from '../store/store.js'
import { createSecretKey, readPreviousKey, readSecretKey } from './secret-key-file.js'
import { deriveKey, openText, sealText, type SecretKey } from './secret-key.js'

export interface Sealing {
  /** `purpose` names what is sealed; only the same purpose opens it. Texts for the store must be sealed within `write`. */
  seal(text: string, purpose: string): string
  /** Rejects with FleetError 'unavailable' if another key sealed it. */
  open(sealed: string, purpose: string): Promise<string>
  /**
   * A decision that writes text sealed with the key that seals the store at commit. The work may run again.
   * Rejects with FleetError 'unavailable' while the file does not hold that key.
   */
  write<T>(store: Pick<Store, 'decide'>, work: (queries: Queries) => Promise<T>): Promise<T>
  /** 32 bytes derived from the current key. */
  deriveKey(purpose: string): Buffer
  /** Loads the key that seals the store now. Rejects with FleetError 'invalid' if the file does not hold it. */
  reload(): Promise<void>
}

/** Keys kept in memory, because an earlier one may have sealed a text outside the store, such as the cookie of a login. */
const keysKept = 3
const maxAttempts = 3

/** Reads the secret key, or creates it if nothing is sealed yet. Throws FleetError 'invalid' if it is not the store's. */
export async function openSealing(store: Store, file: string): Promise<Sealing> {
  let keys: readonly [SecretKey, ...SecretKey[]] = [await openKey(store, file)]

  const reload = async (): Promise<void> => {
    if ((await readSealedBy(store.queries)) === keys[0].id) return
    const key = await findStoreKey(store.queries, file)
    if (key) keys = [key, ...keys.slice(0, keysKept - 1)]
  }
  const tryKeys = (sealed: string, purpose: string): string | undefined => {
    for (const key of keys) {
      const text = openText(key, sealed, purpose)
      if (text !== undefined) return text
    }
    return undefined
  }
  return {
    seal: (text, purpose) => sealText(keys[0], text, purpose),
    open: async (sealed, purpose) => {
      const text = tryKeys(sealed, purpose)
      if (text !== undefined) return text
      await asUnavailable(reload)
      const opened = tryKeys(sealed, purpose)
      if (opened !== undefined) return opened
      throw new FleetError('unavailable', 'store', describeOtherKey(file))
    },
    write: async (at, work) => {
      for (let attempts = 1; ; attempts++) {
        const done = await at.decide(async (queries) => {
          const isOurs = (await readSealedBy(queries)) === keys[0].id
          return isOurs ? { value: await work(queries) } : null
        })
        if (done) return done.value
        if (attempts === maxAttempts)
          throw new FleetError('unavailable', 'store', describeOtherKey(file))
        await asUnavailable(reload)
      }
    },
    deriveKey: (purpose) => deriveKey(keys[0], purpose),
    reload,
  }
}

/**
 * Returns the key that seals the store: the file's, or the previous one if a rotation was interrupted. Undefined: nothing is
 * sealed. Throws FleetError 'invalid' if neither is the store's.
 */
export async function findStoreKey(queries: Queries, file: string): Promise<SecretKey | undefined> {
  const sealedBy = await readSealedBy(queries)
  // Versions that did not store the key's id sealed everything with one key.
  const [sample] = sealedBy === undefined ? await listSealedTexts(queries) : []
  if (sealedBy === undefined && !sample) return undefined
  const current = await readSecretKey(file)
  const found = [current, await readPreviousKey(file)].find(
    (key) => key && (sample ? opens(key, sample) : key.id === sealedBy),
  )
  if (found) return found
  const lost = describeLoss(await listSealedTexts(queries))
  const what = current ? describeOtherKey(file) : `there is no secret key in ${file}`
  throw new FleetError(
    'invalid',
    'store',
    `--secret-key-file: ${what}. The store holds what only that key opens: ${lost}. ` +
      'Put the file back, from a backup or from another coordinator of this store. If it is lost, stop the ' +
      'coordinators and run "cachefleetd secret reset" with the same settings: it ends all sessions, forgets these ' +
      'secrets and lists what has to be given again',
  )
}

async function openKey(store: Store, file: string): Promise<SecretKey> {
  const found = await findStoreKey(store.queries, file)
  const key = found ?? (await readSecretKey(file)) ?? (await createSecretKey(file))
  if ((await readSealedBy(store.queries)) === key.id) return key
  // If several coordinators start at once with files of their own, the first one's key seals the store.
  await store.decide(async (queries) => {
    if ((await readSealedBy(queries)) === undefined) await writeSealedBy(queries, key.id)
  })
  return (await findStoreKey(store.queries, file)) ?? key
}

function opens(key: SecretKey, { kind, sealed }: SealedText): boolean {
  return openText(key, sealed, sealedPurposes[kind]) !== undefined
}

function describeOtherKey(file: string): string {
  return `${file} does not hold the secret key that sealed the store; give all coordinators of a store the same file`
}

function describeLoss(texts: readonly SealedText[]): string {
  const countOf = (wanted: SealedKind) => texts.filter(({ kind }) => kind === wanted).length
  const secrets = countOf('clientSecret')
  const certificates = countOf('certificateKey')
  const webhooks = countOf('webhookUrl')
  return [
    'the keys of all sessions',
    ...(secrets === 0 ? [] : [`the client secrets of ${secrets} identity providers`]),
    ...(certificates === 0 ? [] : [`${certificates} keys of certificates`]),
    ...(webhooks === 0 ? [] : [`the addresses of ${webhooks} webhooks`]),
  ].join(' and ')
}

/** A wrong file is not the API caller's mistake. */
async function asUnavailable(reload: () => Promise<void>): Promise<void> {
  await reload().catch((error: unknown) => {
    if (!(error instanceof FleetError) || error.kind !== 'invalid') throw error
    throw new FleetError('unavailable', 'store', error.message, { cause: error })
  })
}
