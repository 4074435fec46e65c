/**
 * The name of a domain (docs/behaviour.md, Domains): the name that clients send as Host, or `*.` before
 * one. Such names contain only letters, digits, dashes and dots, so that generated VCL can quote them.
 */
import { FleetError } from '../errors.js'

/** RFC 1035: the maximum length of a name without its trailing dot. */
const nameLimitCharacters = 253
/** RFC 1123: letters, digits and dashes, no dash at either end; at most 63. No underscore. */
const labelForm = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const wildcard = '*.'

/**
 * The name in lower case and ASCII, without a trailing dot. `toAscii` converts a non-ASCII name by UTS 46 and returns an
 * empty text for a name without such a form. Throws 'invalid' with a valid example.
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
      `fqdn: ${problem}; it must be a host name like www.example.com, or *.example.com for all names below it`,
    )
  return isWildcard ? wildcard + bare : bare
}

/** Whether `parseDomainName` could return this: such a name is safe in generated VCL. */
export function isDomainName(text: string): boolean {
  const name = text.startsWith(wildcard) ? text.slice(wildcard.length) : text
  return findProblem(name) === null
}

/** `example.com` of `*.example.com`; null for an exact name. */
export function wildcardBase(fqdn: string): string | null {
  return fqdn.startsWith(wildcard) ? fqdn.slice(wildcard.length) : null
}

/** Only names of letters and dots are converted: what UTS 46 makes of other ASCII characters (ports, escapes) is not used. */
function convert(name: string, toAscii: (name: string) => string): string {
  // Far over the limit: converting it would only take time.
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
