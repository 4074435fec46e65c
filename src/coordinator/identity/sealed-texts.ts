/** All that is sealed in the store, wherever it stands: for what concerns the secret key and not one of these things. */
import { deleteSetting, readSetting, writeSetting } from '../store/settings.js'
import type { Queries } from '../store/store.js'

export interface SealedText {
  readonly kind: SealedKind
  /** Within its kind. */
  readonly id: string
  readonly sealed: string
}

/** What is sealed, and the purpose that it is sealed for. */
export const sealedPurposes = {
  signingKey: 'signing keys',
  clientSecret: 'client secrets',
  refreshKey: 'refresh tokens',
} as const
export type SealedKind = keyof typeof sealedPurposes

/** Key of the refresh tokens' MACs. */
const refreshKeySetting = 'sealedRefreshKey'
/** The id of the secret key that all of these are sealed with. */
const sealedBySetting = 'secretKeyId'

export async function readRefreshKey(queries: Queries): Promise<string | undefined> {
  return readSetting(queries, refreshKeySetting)
}

export async function writeRefreshKey(queries: Queries, sealed: string): Promise<void> {
  await writeSetting(queries, refreshKeySetting, sealed)
}

/** Undefined: nothing is sealed, or an earlier version has sealed it. */
export async function readSealedBy(queries: Queries): Promise<string | undefined> {
  return readSetting(queries, sealedBySetting)
}

export async function writeSealedBy(queries: Queries, keyId: string): Promise<void> {
  await writeSetting(queries, sealedBySetting, keyId)
}

/** Few: signing keys live a year, and an organization has one identity provider. */
export async function listSealedTexts(queries: Queries): Promise<SealedText[]> {
  const keys = await queries
    .selectFrom('signingKeys')
    .select(['kid', 'sealedPrivateJwk'])
    .orderBy('createdAt', 'desc')
    .execute()
  const idps = await queries.selectFrom('idps').select(['id', 'sealedClientSecret']).execute()
  const refreshKey = await readRefreshKey(queries)
  return [
    ...keys.map(({ kid, sealedPrivateJwk }) => toText('signingKey', kid, sealedPrivateJwk)),
    ...idps.flatMap(({ id, sealedClientSecret }) =>
      sealedClientSecret === null ? [] : [toText('clientSecret', String(id), sealedClientSecret)],
    ),
    ...(refreshKey === undefined ? [] : [toText('refreshKey', refreshKeySetting, refreshKey)]),
  ]
}

export async function replaceSealedText(
  queries: Queries,
  { kind, id, sealed }: SealedText,
): Promise<void> {
  if (kind === 'refreshKey') await writeRefreshKey(queries, sealed)
  else if (kind === 'signingKey')
    await queries
      .updateTable('signingKeys')
      .set({ sealedPrivateJwk: sealed })
      .where('kid', '=', id)
      .execute()
  else
    await queries
      .updateTable('idps')
      .set({ sealedClientSecret: sealed })
      .where('id', '=', Number(id))
      .execute()
}

/** Identity providers stay, each without its client secret. */
export async function forgetSealedTexts(queries: Queries, now: number): Promise<void> {
  await queries.deleteFrom('signingKeys').execute()
  await queries
    .updateTable('idps')
    .set({ sealedClientSecret: null, updatedAt: now })
    .where('sealedClientSecret', 'is not', null)
    .execute()
  await deleteSetting(queries, refreshKeySetting)
  await deleteSetting(queries, sealedBySetting)
}

function toText(kind: SealedKind, id: string, sealed: string): SealedText {
  return { kind, id, sealed }
}
