/**
 * Warns of effects that a ban expression does not show: the ban lurker cannot process it, no object has its header, or it
 * matches every object. The ban is made anyway.
 */
import type { BanTerm } from '../../vcl/ban-expression.js'
import { groupHeader } from '../../vcl/prologue.js'

/** Each warning appears once. */
export function warnOfBan(terms: readonly BanTerm[]): readonly string[] {
  const warnings: string[] = []
  const ofRequest = terms.find(({ field }) => field.startsWith('req.'))
  if (ofRequest)
    warnings.push(
      `${ofRequest.field} is known only while a request is served: the cache's lurker cannot use this ban, ` +
        'which stays in its list until the oldest object is gone; compare an obj.http header instead',
    )
  const hidden = terms.find(
    ({ field }) => field.toLowerCase() === `obj.http.${groupHeader}`.toLowerCase(),
  )
  if (hidden) warnings.push(`${groupHeader} is set by cachefleet; a target says the same`)
  if (terms.every(matchesAll)) warnings.push('this ban matches every object of its targets')
  return warnings
}

/** Expressions that match anything, recognized without reading objects. */
function matchesAll({ field, operator, value }: BanTerm): boolean {
  if (operator === '~') return /^\^?(?:\.|\.\*|\/)?\$?$/.test(value) && !/^\^?\/\$$/.test(value)
  if (field === 'obj.status') return operator === '!=' && !/^[1-9]\d\d$/.test(value)
  if (/^obj\.(?:age|ttl|grace|keep)$/.test(field))
    return operator === '>=' && /^0+(?:\.0+)?[a-z]+$/.test(value) && field !== 'obj.ttl'
  return false
}

/** Headers that origins usually send, or that the cache sets. */
const commonHeaders = new Set([
  ...['age', 'cache-control', 'content-encoding', 'content-language', 'content-length'],
  ...['content-type', 'date', 'etag', 'expires', 'last-modified', 'link', 'location', 'pragma'],
  ...['server', 'set-cookie', 'surrogate-control', 'surrogate-key', 'vary', 'via', 'xkey'],
  // Each product has its own header for transaction ids.
  ...['x-varnish', 'x-vinyl'],
])

/** Returns the lower-case names of object headers that these terms compare and that not every origin sends. */
export function listOwnHeaders(terms: readonly BanTerm[]): readonly string[] {
  const names = terms.map(({ field }) => /^obj\.http\.(.+)$/.exec(field)?.[1]?.toLowerCase())
  return names.filter((name) => name !== undefined).filter((name) => !commonHeaders.has(name))
}

/** `sources` is the VCL that serves on the targets; without any, no warning is possible. */
export function warnOfHeaders(
  headers: readonly string[],
  sources: readonly string[],
): readonly string[] {
  if (sources.length === 0) return []
  const text = sources.join('\n').toLowerCase()
  return headers
    .filter((header) => !text.includes(`http.${header}`))
    .map(
      (header) =>
        `no VCL of the targets mentions the header ${header}: unless the origin sends it, this ban matches nothing`,
    )
}
