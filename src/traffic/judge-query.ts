/** Refuses log queries that would reveal masked values or burden a cache's host (docs/behaviour.md, Live log). */
import { FleetError } from '../errors.js'
import { matchesGlob } from '../resources/glob.js'
import { allowedTags } from './allowed-tags.js'
import { listTests, type LogQuery, type LogTest } from './log-query.js'
import { holdsUrl, isMaskedHeader, type Masking } from './masking.js'
import { findExpressionProblem } from './repeated-parts.js'
import { refuseQuery } from './query-words.js'

/** Tags of records with headers, client addresses or URLs, in all releases (vsl_tags_http.h, vsl_tags.h). */
const headerTags = [
  ...['Req', 'Resp', 'Bereq', 'Beresp', 'Obj'].flatMap((side) => [`${side}Header`, `${side}Unset`]),
  ...['ReqLost', 'RespLost', 'BereqLost', 'BerespLost', 'ObjLost', 'LostHeader'],
  ...['HttpGarbage', 'H2RxHdr', 'H2RxBody', 'H2TxHdr', 'H2TxBody', 'Debug', 'VSL'],
]
const addressTags = ['ReqStart', 'SessOpen', 'Proxy', 'ProxyGarbage', 'VCL_acl', 'Debug']
const urlTags = ['ReqURL', 'BereqURL', 'Hash', 'H2RxHdr', 'Debug']

/** Throws FleetError 'invalid' with the position. `isBound`: the reader belongs to an organization. */
export function judgeLogQuery(
  text: string,
  query: LogQuery,
  { isBound, masking }: { readonly isBound: boolean; readonly masking: Masking },
): void {
  for (const test of listTests(query)) {
    const problem =
      (isBound ? findBoundProblem(test) : null) ?? findMaskedProblem(test, masking) ?? null
    if (problem !== null) throw refuseQuery(text, test.at, problem)
  }
}

function findBoundProblem({ tags, comparison }: LogTest): string | null {
  const odd = tags.find((tag) => !allowedTags.some((one) => isSameTag(one, tag)))
  if (odd !== undefined) return `${odd} is not an allowed tag: ${allowedTags.join(', ')}`
  if (comparison === null || !comparison.operator.endsWith('~')) return null
  return findExpressionProblem(comparison.operand)
}

/** The presence of a masked header is shown, so it may be queried; its value may not be compared. */
function findMaskedProblem({ tags, prefix, comparison }: LogTest, masking: Masking): string | null {
  if (comparison === null) return null
  const isAnyOf = (names: readonly string[]): boolean =>
    tags.some((tag) => {
      const wanted = Array.from(tag.toLowerCase())
      return names.some((name) => matchesGlob(wanted, name.toLowerCase()))
    })
  if (isAnyOf(headerTags) && (prefix === null || isMaskedHeader(prefix, masking)))
    return prefix === null
      ? 'a header is compared by its name, such as ReqHeader:Host'
      : `${prefix} is masked, so it is not compared`
  const isUrl = isAnyOf(urlTags) || holdsUrl(prefix ?? '')
  if (masking.masksQuery && isUrl)
    return 'query strings are masked on some of these caches, so URLs are not compared'
  if (masking.masksClients && isAnyOf(addressTags))
    return 'client addresses are masked; reading them needs the permission logclient'
  return null
}

/** The tools ignore the case of tags. */
function isSameTag(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

const samples = [1, 10, 100, 1000] as const
type Sample = (typeof samples)[number]

/** Throws FleetError 'invalid'. */
export function requireSample(given: number): Sample {
  const sample = samples.find((one) => one === given)
  if (sample !== undefined) return sample
  throw new FleetError('invalid', 'log', `sample is ${given}; it is ${samples.join(', ')}`)
}
