/**
 * The tokens of a caller: access tokens (signed, short-lived) and refresh tokens (single-use, stored as a digest). Both
 * identify their session; what the session allows is read from the store.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { SignJWT, errors, jwtVerify } from 'jose'
import { signingAlgorithm, type SigningKeys } from './signing-keys.js'

interface AccessToken {
  readonly sessionId: number
  /** Seconds since 1970. */
  readonly expiresAtSeconds: number
}

type AccessTokenReading =
  | { readonly kind: 'valid'; readonly token: AccessToken }
  /** Issued by this service, but expired. */
  | { readonly kind: 'expired' }
  /** Not issued by this service, or changed. */
  | { readonly kind: 'forged' }

/** The purpose of access tokens; a token signed for another purpose is refused. */
const audience = 'cachefleet access'

export async function signAccessToken(keys: SigningKeys, token: AccessToken): Promise<string> {
  const { kid, privateKey } = keys.readSigner()
  return new SignJWT({})
    .setProtectedHeader({ alg: signingAlgorithm, kid, typ: 'JWT' })
    .setIssuer(keys.issuer)
    .setAudience(audience)
    .setSubject(String(token.sessionId))
    .setJti(randomBytes(12).toString('base64url'))
    .setExpirationTime(token.expiresAtSeconds)
    .sign(privateKey)
}

/** `nowMs`: milliseconds since 1970. */
export async function readAccessToken(
  keys: SigningKeys,
  text: string,
  nowMs: number,
): Promise<AccessTokenReading> {
  try {
    const { payload } = await jwtVerify(
      text,
      async ({ kid = '' }) => {
        const key = await keys.findVerifier(kid)
        if (!key) throw new errors.JWKSNoMatchingKey()
        return key
      },
      {
        algorithms: [signingAlgorithm],
        typ: 'JWT',
        issuer: keys.issuer,
        audience,
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(nowMs),
      },
    )
    const { sub, exp = 0 } = payload
    const sessionId = Number(sub)
    return Number.isSafeInteger(sessionId)
      ? { kind: 'valid', token: { sessionId, expiresAtSeconds: exp } }
      : { kind: 'forged' }
  } catch (error) {
    if (error instanceof errors.JWTExpired) return { kind: 'expired' }
    if (error instanceof errors.JOSEError) return { kind: 'forged' }
    throw error
  }
}

/**
 * `<session id>.<random>.<mac>`. The mac distinguishes a used token, which must end its session, from a forged one, which
 * must not. So no list of used tokens is needed.
 */
export function makeRefreshToken(key: Buffer, sessionId: number): string {
  const start = `${sessionId}.${randomBytes(24).toString('base64url')}`
  return `${start}.${macOf(key, start)}`
}

/** Returns the session's id if this service issued the token, whether it is current or already used. */
export function readRefreshToken(key: Buffer, text: string): number | undefined {
  const match = /^(([1-9]\d{0,15})\.[\w-]{32})\.([\w-]{43})$/.exec(text)
  if (!match) return undefined
  const [, start = '', sessionId = '', mac = ''] = match
  const wanted = Buffer.from(macOf(key, start))
  return timingSafeEqual(wanted, Buffer.from(mac)) ? Number(sessionId) : undefined
}

/** SHA-256 (hex); the store keeps only this of a token. */
export function digestToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function macOf(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url')
}
