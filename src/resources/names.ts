/** The rules for names (docs/behaviour.md, Names). */

import { FleetError, type ErrorKey } from '../errors.js'

const nameLimitCharacters = 255
/** In characters, not UTF-16 units. */
const sizeOfNames = /^[^]{1,255}$/u
/** C0, DEL, C1, the two separators that break lines, and halves of surrogate pairs. */
const refusedInNames = /[\0-\x1f\x7f-\x9f\u2028\u2029\p{Surrogate}]/u

/** RFC 5321, 4.5.3.1: the limit of a path. */
const emailLimit = 254

/** The longest name for `--name`; the agent link accepts 63, for the suffix `-sim-00001`. */
const agentNameLimit = 52
export const linkedAgentNameLimit = 63

/** Returns the name unchanged; throws 'invalid' for an invalid one. `key`: its key in the body. */
export function parseName(name: string, errorKey: ErrorKey, key = 'name'): string {
  const problem = findNameProblem(name)
  if (problem !== null) throw new FleetError('invalid', errorKey, `${key}: ${problem}`)
  return name
}

/** The problem with the name of an object and the rule for it; null: none. */
export function findNameProblem(name: string): string | null {
  if (!sizeOfNames.test(name)) return `a name has 1 to ${nameLimitCharacters} characters`
  if (refusedInNames.test(name))
    return 'a name has no control characters, line separators or halves of surrogate pairs'
  return null
}

/** Like findNameProblem; a colon would end the user name in basic credentials. */
export function findAccountNameProblem(name: string): string | null {
  return name.includes(':') ? 'an account name has no colon' : findNameProblem(name)
}

/** Paths that collide with an organization's login (`/auth/oidc/{name}`), and names that cannot be a URL segment. */
const namesOfPaths: ReadonlySet<string> = new Set(['callback', 'token', '.', '..'])

/** Throws 'invalid' for an invalid organization name: the path of its users' login contains it. */
export function parseOrganizationName(name: string): string {
  if (!namesOfPaths.has(name)) return parseName(name, 'organization')
  throw new FleetError(
    'invalid',
    'organization',
    `name: ${name} has a meaning of its own in the address of a login (/auth/oidc/${name}); use another name`,
  )
}

/** No mail is sent to it, so only impossible addresses are refused. Empty means none. */
export function findEmailProblem(email: string): string | null {
  const isPossible =
    email.length <= emailLimit && /^[^\s@]+@[^\s@]+$/u.test(email) && !refusedInNames.test(email)
  return email === '' || isPossible ? null : 'it must be an address like name@example.com, or empty'
}

export function findAgentNameProblem(name: string, limit = agentNameLimit): string | null {
  return name.length <= limit && /^[A-Za-z0-9-]+$/.test(name)
    ? null
    : `an agent name has 1 to ${limit} letters, digits and dashes`
}
