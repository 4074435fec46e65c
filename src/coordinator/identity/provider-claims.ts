/**
 * Maps an identity provider's claims about a user to a role, permissions and names for an account
 * (docs/behaviour.md, Identity providers).
 */
import { createHash } from 'node:crypto'
import { findAccountNameProblem, findEmailProblem } from '../../resources/names.js'
import {
  isPermissionType,
  type Access,
  type PermissionType,
  type Rights,
} from '../../resources/permission.js'

/** The claims of the ID token and of the user info; the token's take precedence. */
export type Claims = Readonly<Record<string, unknown>>

/** Only the first so many values of the role claim are read. */
const maxValues = 1000
/** How many numbers are tried as a suffix of a name that is taken. */
const maxNumbers = 100
const nameLimit = 255

/**
 * Values are `administrator`, `regular`, `<type>:read` and `<type>:write`; others, meant for other services, are ignored.
 * Without any, the account is a regular user without permissions.
 */
export function readRights(claims: Claims, roleClaim: string): Rights {
  const values = readValues(claims, roleClaim).slice(0, maxValues)
  const grants: Partial<Record<PermissionType, Access>> = {}
  for (const value of values) {
    const [type = '', access, rest] = value.split(':')
    if (!isPermissionType(type) || rest !== undefined) continue
    if (access === 'write') grants[type] = 'write'
    else if (access === 'read') grants[type] ??= 'read'
  }
  return { role: values.includes('administrator') ? 'administrator' : 'regular', grants }
}

/** Returns the claim of that name, else the one at that path, such as `realm_access.roles`. */
export function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const step of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = Reflect.get(value, step)
  }
  return value
}

function readValues(claims: Claims, name: string): readonly string[] {
  const value = findClaim(claims, name)
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((member) => typeof member === 'string') : []
}

/** Empty if the provider gives no valid one. */
export function readEmail({ email }: Claims): string {
  return typeof email === 'string' && findEmailProblem(email) === null ? email : ''
}

/**
 * Candidate names for a new account, of which the first free one is used: the preferred name, then with the organization's name
 * as a suffix, then with a number as well (account names are unique in the whole store).
 */
export function* chooseAccountNames(
  claims: Claims,
  subject: string,
  organization: string,
): Generator<string, void, undefined> {
  const { preferred_username: preferred, email } = claims
  const unnamed = `user-${createHash('sha256').update(subject).digest('hex').slice(0, 12)}`
  const name = [preferred, email, subject].find(isAccountName) ?? unnamed
  const suffix = `@${organization.replaceAll(':', '-')}`
  yield name
  for (let number = 1; number <= maxNumbers; number++) {
    const behind = number === 1 ? suffix : `-${number}${suffix}`
    const longer = `${cut(name, nameLimit - Array.from(behind).length)}${behind}`
    yield isAccountName(longer) ? longer : `${unnamed}-${number}`
  }
}

function isAccountName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && findAccountNameProblem(value) === null
}

/** Cuts to at most `most` characters. */
function cut(text: string, most: number): string {
  return Array.from(text).slice(0, Math.max(0, most)).join('')
}
