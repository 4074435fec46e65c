/** Passwords as argon2id: few at a time, so that logins never take the machine from the other calls. */
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { FleetError, type ErrorKey } from '../../errors.js'
import { Semaphore } from '../../runtime/semaphore.js'

export interface Passwords {
  hash(password: string): Promise<string>
  /**
   * Without a hash, or with an empty one, the same work is done against one that no password has: an unknown name takes as long as a
   * known one.
   * `beforeWork` runs when it is this password's turn; what it throws is thrown.
   */
  verify(hash: string | undefined, password: string, beforeWork?: () => void): Promise<boolean>
}

/** docs/behaviour.md, Accounts. Characters. */
const passwordLeast = 12
const passwordMost = 1024

/** argon2id is the library's default. About 12 ms of one core and 19 MiB each. */
const parameters = {
  memoryCost: 19 * 1024,
  timeCost: 2,
  parallelism: 1,
}
const { memoryCost, timeCost, parallelism } = parameters
/** Sixteen bytes of salt and thirty-two of hash: zeros, which nobody's password hashes to. */
const noPassword = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`
/** Of the four threads that Node's file system calls use too; one core stays for all other calls. */
const atOnce = Math.max(1, Math.min(2, availableParallelism() - 1))
/** About one second of work. */
const waitingMost = 100

export function createPasswords(): Passwords {
  const semaphore = new Semaphore({
    permits: atOnce,
    waitingMost,
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

/** Throws FleetError 'invalid' naming the key. */
export function checkNewPassword(
  password: string,
  key: string,
  errorKey: ErrorKey = 'account',
): void {
  const { length } = password
  if (length < passwordLeast || length > passwordMost)
    throw new FleetError(
      'invalid',
      errorKey,
      `${key} has ${length} ${length === 1 ? 'character' : 'characters'}; it must have ${passwordLeast} to ${passwordMost}`,
    )
}
