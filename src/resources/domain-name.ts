/**
 * What a domain is called (docs/behaviour.md, Domains): the name that clients send as Host, or `*.` before
 * one. Names of this form hold nothing but letters, digits, dashes and dots, so that generated VCL can quote them.
 */
import { FleetError } from '../errors.js'

/** RFC 1035: what a name may be long, without its last dot. */
const nameLimitCharacters = 253
/** RFC 1123: letters, digits and dashes, the latter not at the ends; at most 63. No underscore. */
const labelForm = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const wildcard = '*.'

/**
 * The name in lower case and ASCII, without a last dot. `toAscii` is UTS 46 for a name that is not ASCII, and answers an
 * empty text for one that has no such form. Throws 'invalid' that says what would be right.
 */
export function parseDomainName(given: string, toAscii: (name: string) => string): string {
  const isWildcard = given.startsWith(wildcard)
  const name = isWildcard ? given.slice(wildcard.length) : given
  const ascii = /^\p{ASCII}*$/u.test(name) ? name : convert(name, toAscii)
  const bare = ascii.toLowerCase().replace(/\.$/, '')
  const problem = findProblem(bare)
  if (problem !== null)
    throw new FleetError(
      'invalid',
      'domain',
      `fqdn: ${problem}; a host name like www.example.com is right, or *.example.com for all names below one`,
    )
  return isWildcard ? wildcard + bare : bare
}

/** Whether this is what `parseDomainName` answers: what generated VCL may hold. */
export function isDomainName(text: string): boolean {
  const name = text.startsWith(wildcard) ? text.slice(wildcard.length) : text
  return findProblem(name) === null
}

/** `example.com` of `*.example.com`; null for an exact name. */
export function wildcardBase(fqdn: string): string | null {
  return fqdn.startsWith(wildcard) ? fqdn.slice(wildcard.length) : null
}

/** What UTS 46 would make of ASCII signs (ports, escapes) never counts: only letters and dots are converted. */
function convert(name: string, toAscii: (name: string) => string): string {
  // Far over what may be long: converting it would only take time.
  if (name.length > 4 * nameLimitCharacters || /[\0-,/:-@[-`{-\x7f]/.test(name)) return name
  return toAscii(name)
}

function findProblem(name: string): string | null {
  if (name === '') return 'it has no name'
  if (name.length > nameLimitCharacters)
    return `it has ${name.length} characters, at most ${nameLimitCharacters}`
  const wrong = name.split('.').find((label) => !labelForm.test(label))
  if (wrong === undefined) return null
  if (wrong === '') return 'a part between dots is empty'
  if (wrong.length > 63) return 'a part between dots has more than 63 characters'
  return `${JSON.stringify(wrong.slice(0, 80))} is not part of a host name`
}
