/**
 * Computes the response to a challenge that proves knowledge of the secret (lib/libvarnish/vcli_auth.c, VCLI_AuthResponse): SHA-256 over
 * challenge, LF, the secret file's bytes, challenge, LF.
 */

import { createHash } from 'node:crypto'
import { ManagementPortError } from './errors.js'

const challengePattern = /^[a-z]{32}(?=\n)/

/** Returns the 64 hex digits for `auth`. All bytes of the secret file count, including a final line feed. */
export function answerChallenge(challengeBody: Buffer, secret: Buffer): string {
  const challenge = challengePattern.exec(challengeBody.toString('latin1'))?.[0]
  if (challenge === undefined)
    throw new ManagementPortError('garbled', 'the challenge is not 32 letters and a line feed')
  return createHash('sha256')
    .update(`${challenge}\n`)
    .update(secret)
    .update(`${challenge}\n`)
    .digest('hex')
}
