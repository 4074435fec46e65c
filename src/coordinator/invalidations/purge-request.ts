/** What a caller may add to a purge: its method and headers (soft purges, surrogate keys). */
import { FleetError } from '../../errors.js'

const methodForm = /^[A-Z][A-Z0-9_-]{0,31}$/
const headerNameForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,126}$/
/** Chosen by us: caches take 64 lines (http_max_hdr), some of them are ours. */
const headersLimit = 32
const valueLimitCharacters = 4096
/** Ours, or about the message itself. */
const reserved =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|x-cachefleet-.*)$/i

/** Throws FleetError 'invalid'. */
export function parsePurgeMethod(method: string): string {
  if (methodForm.test(method) && method !== 'CONNECT') return method
  throw invalid(
    `method ${shown(method)}: capital letters, digits, dash and underscore are right, as PURGE`,
  )
}

/** Throws FleetError 'invalid'. */
export function parsePurgeHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const names = Object.keys(headers)
  if (names.length > headersLimit)
    throw invalid(`headers has ${names.length} members, at most ${headersLimit} are right`)
  for (const [name, value] of Object.entries(headers)) {
    if (!headerNameForm.test(name)) throw invalid(`headers: ${shown(name)} is no header name`)
    if (reserved.test(name)) throw invalid(`headers: ${name} is set by cachefleet itself`)
    if (value.length > valueLimitCharacters || !/^[ -~]*$/.test(value))
      throw invalid(
        `headers: the value of ${name} is at most ${valueLimitCharacters} printable ASCII characters`,
      )
  }
  return headers
}

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}

function invalid(message: string): FleetError {
  return new FleetError('invalid', 'invalidation', message)
}
