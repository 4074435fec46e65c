/** API tokens: long-lived access tokens for programs, with part of their creator's rights, no refresh (docs/behaviour.md, API tokens). */
import { randomBytes } from 'node:crypto'
import { parseName } from '../../resources/names.js'
import { findExcess, toGrants, type Actor, type Permission } from '../../resources/permission.js'
import type { ApiToken } from '../../resources/session.js'
import { FleetError } from '../../errors.js'
import { countApiTokens, insertSession } from './session-queries.js'
import type { Identity } from './identity.js'
import { signAccessToken } from './tokens.js'

interface WantedApiToken {
  readonly label: string
  /** Seconds since 1970. */
  readonly expire: number
  readonly permissions: readonly Permission[]
}

const yearSeconds = 365 * 24 * 3600
/** Per account. */
const maxTokens = 1000

/**
 * Only this response contains the token itself. Throws 'forbidden' for rights that the caller does not have and for a caller
 * that is itself an API token, 'invalid' for the expiry, 'conflict' if the account has too many API tokens.
 */
export async function createApiToken(
  { service, keys }: Identity,
  actor: Actor,
  wanted: WantedApiToken,
): Promise<ApiToken> {
  const { store, now } = service
  if (actor.limits)
    throw new FleetError('forbidden', 'session', 'an API token cannot make tokens; log in')
  const label = parseName(wanted.label, 'session', 'label')
  const limits = toGrants(wanted.permissions)
  if (Object.keys(limits).length === 0)
    throw new FleetError('invalid', 'session', 'permissions allow nothing; name at least one type')
  const excess = findExcess(actor, limits)
  if (excess !== undefined)
    throw new FleetError(
      'forbidden',
      'session',
      `permissions: you may not ${limits[excess] ?? ''} ${excess} yourself`,
    )
  const createdAt = now()
  checkExpiry(wanted.expire, createdAt)
  const id = await store.decide(async (queries) => {
    if ((await countApiTokens(queries, actor.accountId)) >= maxTokens)
      throw new FleetError(
        'conflict',
        'session',
        `this account has ${maxTokens} API tokens; delete some first`,
      )
    return insertSession(queries, {
      accountId: actor.accountId,
      organizationId: actor.organizationId,
      label,
      limits,
      // The column is unique. Random bytes are the digest of no token, so this session cannot be refreshed.
      refreshDigest: randomBytes(32).toString('hex'),
      createdAt,
      lastUsedAt: createdAt,
      accessExpiresAt: wanted.expire * 1000,
      refreshExpiresAt: 0,
    })
  })
  const token = { sessionId: id, expiresAtSeconds: wanted.expire }
  return { id, label, accessToken: await signAccessToken(keys, token), accessExpire: wanted.expire }
}

function checkExpiry(expireSeconds: number, nowMs: number): void {
  const nowSeconds = Math.floor(nowMs / 1000)
  if (expireSeconds > nowSeconds && expireSeconds <= nowSeconds + yearSeconds) return
  throw new FleetError(
    'invalid',
    'session',
    `expire is ${expireSeconds}; it must be in seconds since 1970, in the future and at most a year away (${nowSeconds + yearSeconds})`,
  )
}
