/**
 * Challenge + secret → the answer that proves the secret is known (lib/libvarnish/vcli_auth.c, VCLI_AuthResponse):
 * SHA-256 over challenge, LF, the secret file's bytes, challenge, LF.
 */

import { createHash } from 'node:crypto'
import { ManagementPortError } from './errors.js'

const challengePattern = /^[a-z]{32}(?=\n)/

/** The 64 hex digits for `auth`. All bytes of the secret file count, a final line feed too. */
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
