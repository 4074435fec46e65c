/**
 * How a join token is written. One of a coordinator with a CA of its own names that CA: `cf1.<token>.<fingerprint>`, so that a
 * new agent knows whom to trust before it says anything.
 */

interface JoinTokenParts {
  /** What the coordinator is told. */
  readonly token: string
  /** Base64url of the SHA-256 of the CA's certificate; null: the token names none. */
  readonly fingerprint: string | null
}

const pinned = /^cf1\.([\w-]{16,128})\.([\w-]{43})$/

export function printJoinToken({ token, fingerprint }: JoinTokenParts): string {
  return fingerprint === null ? token : `cf1.${token}.${fingerprint}`
}

/** Null for one that was cut off or changed on its way. */
export function parseJoinToken(text: string): JoinTokenParts | null {
  if (!text.startsWith('cf1.')) return { token: text, fingerprint: null }
  const [, token = '', fingerprint = ''] = pinned.exec(text) ?? []
  return token === '' ? null : { token, fingerprint }
}
