/** All sealed texts of the store, from all tables, for work on the secret key as a whole, such as its rotation. */
import { deleteSetting, readSetting, writeSetting } from '../store/settings.js'
import type { Queries } from '../store/store.js'

export interface SealedText {
  readonly kind: SealedKind
  /** Unique within its kind. */
  readonly id: string
  readonly sealed: string
}

/** The kinds of sealed texts and the purpose that each is sealed for. */
export const sealedPurposes = {
  signingKey: 'signing keys',
  clientSecret: 'client secrets',
  refreshKey: 'refresh tokens',
  certificateKey: 'keys of certificates',
  webhookUrl: 'addresses of webhooks',
  webhookSecret: 'secrets of webhooks',
  coordinatorCa: "CA of the coordinators' own certificates",
} as const
export type SealedKind = keyof typeof sealedPurposes

/** The key of the refresh tokens' MACs. */
const refreshKeySetting = 'sealedRefreshKey'
const caSetting = 'sealedCoordinatorCa'
/** The id of the secret key that seals all of these. */
const sealedBySetting = 'secretKeyId'

export async function readRefreshKey(queries: Queries): Promise<string | undefined> {
  return readSetting(queries, refreshKeySetting)
}

export async function writeRefreshKey(queries: Queries, sealed: string): Promise<void> {
  await writeSetting(queries, refreshKeySetting, sealed)
}

/** The certificate and key of the CA that the coordinators of this store share. */
export async function readSealedCa(queries: Queries): Promise<string | undefined> {
  return readSetting(queries, caSetting)
}

export async function writeSealedCa(queries: Queries, sealed: string): Promise<void> {
  await writeSetting(queries, caSetting, sealed)
}

/** Undefined: nothing is sealed, or an earlier version sealed it. */
export async function readSealedBy(queries: Queries): Promise<string | undefined> {
  return readSetting(queries, sealedBySetting)
}

export async function writeSealedBy(queries: Queries, keyId: string): Promise<void> {
  await writeSetting(queries, sealedBySetting, keyId)
}

/**
 * The list is short: signing keys live a year; an organization has one identity provider, 20 webhooks, and at most 500
 * certificates of three versions.
 */
export async function listSealedTexts(queries: Queries): Promise<SealedText[]> {
  const keys = await queries
    .selectFrom('signingKeys')
    .select(['kid', 'sealedPrivateJwk'])
    .orderBy('createdAt', 'desc')
    .execute()
  const idps = await queries.selectFrom('idps').select(['id', 'sealedClientSecret']).execute()
  const refreshKey = await readRefreshKey(queries)
  const ca = await readSealedCa(queries)
  const versions = await queries
    .selectFrom('certificateVersions')
    .select(['certificateId', 'sha', 'sealedKey'])
    .execute()
  const webhooks = await queries
    .selectFrom('webhooks')
    .select(['id', 'sealedUrl', 'sealedSecret'])
    .execute()
  return [
    ...keys.map(({ kid, sealedPrivateJwk }) => toText('signingKey', kid, sealedPrivateJwk)),
    ...idps.flatMap(({ id, sealedClientSecret }) =>
      sealedClientSecret === null ? [] : [toText('clientSecret', String(id), sealedClientSecret)],
    ),
    ...versions.flatMap(({ certificateId, sha, sealedKey }) =>
      sealedKey === null ? [] : [toText('certificateKey', `${certificateId} ${sha}`, sealedKey)],
    ),
    ...webhooks.flatMap(({ id, sealedUrl, sealedSecret }) => [
      ...(sealedUrl === null ? [] : [toText('webhookUrl', String(id), sealedUrl)]),
      ...(sealedSecret === null ? [] : [toText('webhookSecret', String(id), sealedSecret)]),
    ]),
    ...(refreshKey === undefined ? [] : [toText('refreshKey', refreshKeySetting, refreshKey)]),
    ...(ca === undefined ? [] : [toText('coordinatorCa', caSetting, ca)]),
  ]
}

export async function replaceSealedText(
  queries: Queries,
  { kind, id, sealed }: SealedText,
): Promise<void> {
  if (kind === 'refreshKey') await writeRefreshKey(queries, sealed)
  else if (kind === 'coordinatorCa') await writeSealedCa(queries, sealed)
  else if (kind === 'signingKey')
    await queries
      .updateTable('signingKeys')
      .set({ sealedPrivateJwk: sealed })
      .where('kid', '=', id)
      .execute()
  else if (kind === 'certificateKey') {
    const [certificateId, sha = ''] = id.split(' ')
    await queries
      .updateTable('certificateVersions')
      .set({ sealedKey: sealed })
      .where('certificateId', '=', Number(certificateId))
      .where('sha', '=', sha)
      .execute()
  } else if (kind === 'webhookUrl' || kind === 'webhookSecret')
    await queries
      .updateTable('webhooks')
      .set(kind === 'webhookUrl' ? { sealedUrl: sealed } : { sealedSecret: sealed })
      .where('id', '=', Number(id))
      .execute()
  else
    await queries
      .updateTable('idps')
      .set({ sealedClientSecret: sealed })
      .where('id', '=', Number(id))
      .execute()
}

/**
 * Identity providers stay without their client secrets, certificates without their keys, and webhooks, turned off, without
 * address and secret. Coordinators also keep their CA in their state directories: the first that starts seals it again.
 */
export async function forgetSealedTexts(queries: Queries, now: number): Promise<void> {
  await queries.deleteFrom('signingKeys').execute()
  await queries
    .updateTable('idps')
    .set({ sealedClientSecret: null, updatedAt: now })
    .where('sealedClientSecret', 'is not', null)
    .execute()
  await queries.updateTable('certificateVersions').set({ sealedKey: null }).execute()
  await queries
    .updateTable('webhooks')
    .set({ sealedUrl: null, sealedSecret: null, enabled: 0, updatedAt: now })
    .where('sealedUrl', 'is not', null)
    .execute()
  await deleteSetting(queries, refreshKeySetting)
  await deleteSetting(queries, caSetting)
  await deleteSetting(queries, sealedBySetting)
}

function toText(kind: SealedKind, id: string, sealed: string): SealedText {
  return { kind, id, sealed }
}
