/**
 * Slows down password guessing. Only failures count, per account and source address and per source address
 * (docs/behaviour.md, Failed logins). Coordinators of one store share their counts, so that guesses spread over several
 * coordinators are added up.
 */
import { createHash, randomUUID } from 'node:crypto'
import { loginAttemptSubject } from '../bus/subjects.js'
import { networkOf } from '../../source-network.js'
import { FleetError } from '../../errors.js'
import type { StateService } from '../service.js'
import { createBoundedCache } from '../../runtime/bounded-cache.js'

export interface LoginLimits {
  /** Throws FleetError 'limited' with the seconds to wait. `account` is null for an authentication without a name. */
  check(account: string | null, sourceAddress: string): void
  countFailure(account: string | null, sourceAddress: string): void
  /** After a correct password: clears the account's failures from this address, but not the address's own count. */
  forgive(account: string, sourceAddress: string): void
}

/** Agents are counted separately, so that one with a lost key does not lock out the users on its host. */
type CallerKind = 'users' | 'agents'

const windowMs = 5 * 60 * 1000
const failuresOfAccount = 10
const failuresOfAddress = 50
/** Accounts and addresses remembered; the least recently seen are evicted first. */
const remembered = 20_000

/** Lives as long as the bus. */
export function createLoginLimits(
  { bus, now }: Pick<StateService, 'bus' | 'now'>,
  who: CallerKind,
): LoginLimits {
  const origin = randomUUID()
  /** Times of the failures, oldest first, by key. */
  const failures = createBoundedCache<string, readonly number[]>(remembered)

  const recent = (key: string): readonly number[] =>
    (failures.get(key) ?? []).filter((at) => at > now() - windowMs)
  const checkOne = (key: string, most: number): void => {
    const times = recent(key)
    const oldest = times.at(-most)
    if (oldest === undefined) return
    throw new FleetError('limited', 'auth', 'too many failed logins; wait before the next one', {
      retryAfterSeconds: (oldest + windowMs - now()) / 1000,
    })
  }
  const countOne = (key: string): void => {
    // No check needs more than the larger limit.
    const times = [...recent(key), now()].slice(-failuresOfAddress)
    failures.set(key, times)
  }
  bus.subscribe(loginAttemptSubject, (attempt) => {
    if (attempt.origin === origin) return
    for (const key of attempt.failed ?? []) countOne(key)
    if (attempt.forgiven !== undefined) failures.delete(attempt.forgiven)
  })

  return {
    check: (account, sourceAddress) => {
      const address = networkOf(sourceAddress)
      checkOne(keyOf(who, null, address), failuresOfAddress)
      if (account !== null) checkOne(keyOf(who, account, address), failuresOfAccount)
    },
    countFailure: (account, sourceAddress) => {
      const address = networkOf(sourceAddress)
      const failed = [
        keyOf(who, null, address),
        ...(account === null ? [] : [keyOf(who, account, address)]),
      ]
      for (const key of failed) countOne(key)
      bus.publish(loginAttemptSubject, { origin, failed })
    },
    forgive: (account, sourceAddress) => {
      const key = keyOf(who, account, networkOf(sourceAddress))
      if (failures.delete(key)) bus.publish(loginAttemptSubject, { origin, forgiven: key })
    },
  }
}

/** A digest, because a user may enter a password as the name by mistake, and names have no length limit here. */
function keyOf(who: CallerKind, account: string | null, address: string): string {
  const text = account === null ? `${who} ${address}` : `${who} ${address} ${account}`
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
