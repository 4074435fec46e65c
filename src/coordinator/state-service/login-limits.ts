/** Slows down guessing: only failures count, per account and source address and per source address (choices: 2, Tokens). */
import { isIPv6 } from 'node:net'
import { FleetError } from '../../errors.js'

export interface LoginLimits {
  /** Throws FleetError 'limited' with the seconds to wait. `account` null: an authentication without a name. */
  check(account: string | null, sourceAddress: string): void
  countFailure(account: string | null, sourceAddress: string): void
  /** A right password: the account's failures from there are forgotten, the address's are not. */
  forgive(account: string, sourceAddress: string): void
}

const windowMs = 5 * 60 * 1000
const failuresOfAccount = 10
const failuresOfAddress = 50
/** Chosen by us: how many accounts and addresses are remembered; the longest unseen are forgotten first. */
const remembered = 20_000

/** In this process only: each of several coordinators counts for itself. */
export function createLoginLimits(now: () => number): LoginLimits {
  /** Times of the failures, oldest first, by key; the keys in the order of their last failure. */
  const failures = new Map<string, readonly number[]>()

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
  const countOne = (key: string, most: number): void => {
    const times = [...recent(key), now()].slice(-most)
    failures.delete(key)
    failures.set(key, times)
    const [longestUnseen] = failures.keys()
    if (failures.size > remembered && longestUnseen !== undefined) failures.delete(longestUnseen)
  }

  return {
    check: (account, sourceAddress) => {
      const address = networkOf(sourceAddress)
      checkOne(address, failuresOfAddress)
      if (account !== null) checkOne(pairKey(account, address), failuresOfAccount)
    },
    countFailure: (account, sourceAddress) => {
      const address = networkOf(sourceAddress)
      countOne(address, failuresOfAddress)
      if (account !== null) countOne(pairKey(account, address), failuresOfAccount)
    },
    forgive: (account, sourceAddress) => {
      failures.delete(pairKey(account, networkOf(sourceAddress)))
    },
  }
}

function pairKey(account: string, address: string): string {
  return `${address} ${account.slice(0, 255)}`
}

/** Chosen by us: of IPv6 the /64, which one host has at its disposal. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const groups = head.split(':').filter(Boolean)
  const after = (tail ?? '').split(':').filter(Boolean)
  const zeros = tail === undefined ? 0 : 8 - groups.length - after.length
  return [...groups, ...Array.from({ length: zeros }, () => '0'), ...after].slice(0, 4).join(':')
}
