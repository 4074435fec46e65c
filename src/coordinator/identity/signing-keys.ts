/** The Ed25519 keys that sign access tokens: created at the first start, rotated regularly (docs/behaviour.md, Tokens). */
import { randomBytes } from 'node:crypto'
import { exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose'
import {
  deleteSigningKeysBefore,
  insertSigningKey,
  listSigningKeys,
  type SigningKeyRecord,
} from './signing-key-queries.js'
import { sealedPurposes } from './sealed-texts.js'
import type { Sealing } from './sealing.js'
import type { StateService } from '../service.js'

export const signingAlgorithm = 'EdDSA'

export interface SigningKeys {
  /** Identifies the store whose coordinators sign. */
  readonly issuer: string
  /** Returns the newest key. */
  readSigner(): { readonly kid: string; readonly privateKey: CryptoKey }
  /** Undefined: no coordinator of this store has such a key. */
  findVerifier(kid: string): Promise<CryptoKey | undefined>
  /** Adds a key once the newest is 30 days old; deletes keys that can have signed no token that is still valid. */
  rotate(): Promise<void>
  /** Reads the keys from the store again, because another coordinator may have rotated them. */
  reload(): Promise<void>
}

interface LoadedKeys {
  readonly signer: { readonly kid: string; readonly privateKey: CryptoKey }
  readonly createdAt: number
  readonly verifiers: ReadonlyMap<string, CryptoKey>
}

const dayMs = 24 * 3600 * 1000
const rotateAfterMs = 30 * dayMs
/** The longest life of a token is a year (docs/behaviour.md, API tokens). */
const keepForMs = rotateAfterMs + 366 * dayMs
/** Tokens with made-up key ids cause at most one query per interval. */
const reloadEveryMs = 1000

export async function openSigningKeys(
  service: StateService,
  sealing: Sealing,
): Promise<SigningKeys> {
  const { store, now } = service
  let keys = await loadKeys(service, sealing)
  keys ??= await makeFirstKey(service, sealing)
  let current = keys
  let loadedAt = now()

  const reload = async (): Promise<void> => {
    loadedAt = now()
    current = (await loadKeys(service, sealing)) ?? current
  }
  return {
    issuer: service.coordinatorId,
    reload,
    readSigner: () => current.signer,
    findVerifier: async (kid) => {
      // Another coordinator may have added a key since.
      if (!current.verifiers.has(kid) && now() - loadedAt >= reloadEveryMs) await reload()
      return current.verifiers.get(kid)
    },
    rotate: async () => {
      await reload()
      if (now() - current.createdAt >= rotateAfterMs) {
        await addKey(service, sealing, ([newest]) => newest?.createdAt === current.createdAt)
        await reload()
      }
      await deleteSigningKeysBefore(store.queries, now() - keepForMs)
    },
  }
}

async function loadKeys(
  { store }: StateService,
  sealing: Sealing,
): Promise<LoadedKeys | undefined> {
  const records = await listSigningKeys(store.queries)
  const [newest] = records
  if (!newest) return undefined
  const privateKey = await readKey(
    await sealing.open(newest.sealedPrivateJwk, sealedPurposes.signingKey),
  )
  const verifiers = await Promise.all(
    records.map(async ({ kid, publicJwk }) => [kid, await readKey(publicJwk)] as const), // [kid, key] pairs
  )
  return {
    signer: { kid: newest.kid, privateKey },
    createdAt: newest.createdAt,
    verifiers: new Map(verifiers),
  }
}

async function makeFirstKey(service: StateService, sealing: Sealing): Promise<LoadedKeys> {
  await addKey(service, sealing, (keys) => keys.length === 0)
  const loaded = await loadKeys(service, sealing)
  if (!loaded) throw new Error('the signing key was stored and is gone')
  return loaded
}

/** Only one of several coordinators adds the key: `isNeeded` is called under the decision lock with the store's keys, newest first. */
async function addKey(
  { store, now }: StateService,
  sealing: Sealing,
  isNeeded: (keys: readonly SigningKeyRecord[]) => boolean,
): Promise<void> {
  const { publicKey, privateKey } = await generateKeyPair(signingAlgorithm, { extractable: true })
  const publicJwk = JSON.stringify(await exportJWK(publicKey))
  const privateJwk = JSON.stringify(await exportJWK(privateKey))
  await sealing.write(store, async (queries) => {
    if (!isNeeded(await listSigningKeys(queries))) return
    await insertSigningKey(queries, {
      kid: randomBytes(8).toString('hex'),
      publicJwk,
      createdAt: now(),
      sealedPrivateJwk: sealing.seal(privateJwk, sealedPurposes.signingKey),
    })
  })
}

async function readKey(text: string): Promise<CryptoKey> {
  const key = await importJWK(JSON.parse(text) as JWK, signingAlgorithm) // written by addKey
  if (key instanceof Uint8Array) throw new Error('a signing key in the store is not a key pair')
  return key
}
