/** Hashes passwords with argon2id, a few at a time, so that logins never starve other calls. */
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { FleetError, type ErrorKey } from '../../errors.js'
import { Semaphore } from '../../runtime/semaphore.js'

export interface Passwords {
  hash(password: string): Promise<string>
  /**
   * Without a hash, or with an empty one, it verifies against a hash that no password has, so that an unknown name takes as long as a
   * known one.
   * `beforeWork` runs when it is this password's turn; its errors are passed on.
   */
  verify(hash: string | undefined, password: string, beforeWork?: () => void): Promise<boolean>
}

/** In characters (docs/behaviour.md, Accounts). */
const minPasswordLength = 12
const maxPasswordLength = 1024

/** argon2id is the library's default. Each hash takes about 12 ms of one core and 19 MiB. */
const parameters = {
  memoryCost: 19 * 1024,
  timeCost: 2,
  parallelism: 1,
}
const { memoryCost, timeCost, parallelism } = parameters
/** 16 bytes of salt and 32 bytes of hash, all zeros; no password hashes to this. */
const noPassword = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`
/** Out of the four threads that Node also uses for file system calls; one core stays free for other calls. */
const atOnce = Math.max(1, Math.min(2, availableParallelism() - 1))
/** Passwords that may wait: about one second of work. */
const maxWaiting = 100

export function createPasswords(): Passwords {
  const semaphore = new Semaphore({
    permits: atOnce,
    maxWaiting,
    refuse: () =>
      new FleetError('unavailable', 'auth', 'too many logins at once; try again soon', {
        retryAfterSeconds: 2,
      }),
  })
  return {
    hash: (password) => semaphore.run(() => hash(password, parameters)),
    verify: (known, password, beforeWork) =>
      semaphore.run(async () => {
        beforeWork?.()
        const hasOne = known !== undefined && known !== ''
        const matches = await verify(hasOne ? known : noPassword, password)
        return matches && hasOne
      }),
  }
}

/** Throws FleetError 'invalid' that names the key. */
export function checkNewPassword(
  password: string,
  key: string,
  errorKey: ErrorKey = 'account',
): void {
  const { length } = password
  if (length < minPasswordLength || length > maxPasswordLength)
    throw new FleetError(
      'invalid',
      errorKey,
      `${key} has ${length} ${length === 1 ? 'character' : 'characters'}; it must have ${minPasswordLength} to ${maxPasswordLength}`,
    )
}
