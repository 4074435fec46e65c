/**
 * What a ban does not say by itself: that the cache's lurker cannot clean up after it, that no object has its header, that
 * it takes everything. Warnings only: the ban is made all the same.
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

/** Without reading the objects: expressions that match anything. */
function matchesAll({ field, operator, value }: BanTerm): boolean {
  if (operator === '~') return /^\^?(?:\.|\.\*|\/)?\$?$/.test(value) && !/^\^?\/\$$/.test(value)
  if (field === 'obj.status') return operator === '!=' && !/^[1-9]\d\d$/.test(value)
  if (/^obj\.(?:age|ttl|grace|keep)$/.test(field))
    return operator === '>=' && /^0+(?:\.0+)?[a-z]+$/.test(value) && field !== 'obj.ttl'
  return false
}

/** Origins send these of their own accord, or the cache sets them. */
const commonHeaders = new Set([
  ...['age', 'cache-control', 'content-encoding', 'content-language', 'content-length'],
  ...['content-type', 'date', 'etag', 'expires', 'last-modified', 'link', 'location', 'pragma'],
  ...['server', 'set-cookie', 'surrogate-control', 'surrogate-key', 'vary', 'via', 'xkey'],
  // Each product names its transactions in one of its own.
  ...['x-varnish', 'x-vinyl'],
])

/** Names in lower case of headers of objects that these terms compare and that not every origin sends. */
export function listOwnHeaders(terms: readonly BanTerm[]): readonly string[] {
  const names = terms.map(({ field }) => /^obj\.http\.(.+)$/.exec(field)?.[1]?.toLowerCase())
  return names.filter((name) => name !== undefined).filter((name) => !commonHeaders.has(name))
}

/** `sources`: the VCL that serves on the targets; without any nothing is known. */
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
