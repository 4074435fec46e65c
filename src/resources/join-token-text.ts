/**
 * The text form of a join token. A coordinator with its own CA includes the CA's fingerprint, `cf1.<token>.<fingerprint>`, so that
 * a new agent can verify the coordinator before it sends anything.
 */

interface JoinTokenParts {
  /** The part that the agent sends to the coordinator. */
  readonly token: string
  /** Base64url of the SHA-256 of the CA's certificate; null: the token has none. */
  readonly fingerprint: string | null
}

const pinned = /^cf1\.([\w-]{16,128})\.([\w-]{43})$/

export function printJoinToken({ token, fingerprint }: JoinTokenParts): string {
  return fingerprint === null ? token : `cf1.${token}.${fingerprint}`
}

/** Null for a token that was truncated or altered. */
export function parseJoinToken(text: string): JoinTokenParts | null {
  if (!text.startsWith('cf1.')) return { token: text, fingerprint: null }
  const [, token = '', fingerprint = ''] = pinned.exec(text) ?? []
  return token === '' ? null : { token, fingerprint }
}
