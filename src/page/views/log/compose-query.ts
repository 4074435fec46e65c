/** Converts the log's fields to the API's selectors and query, and locates refusals. */
import type { CallError } from '../../api/http.js'
import {
  handlings,
  type Handling,
  type LoggedRequest,
} from '../../../resources/logged-transaction.js'
import type { TextRange } from '../../parts/text-range.js'

/** As in the URL; empty: all. */
export interface LogFilter {
  readonly vclGroup: string
  readonly agents: string
  readonly tags: string
  readonly domain: string
  readonly status: string
  readonly handling: string
  /** Text that the request's URL contains. */
  readonly url: string
  /** A vsl-query(7) in addition to the fields. */
  readonly query: string
}

export const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const
type StatusClass = (typeof statusClasses)[number]

function readStatusClass({ status }: Pick<LogFilter, 'status'>): StatusClass | null {
  return statusClasses.find((one) => one === status) ?? null
}

export function readHandling({ handling }: Pick<LogFilter, 'handling'>): Handling | null {
  return handlings.find((one) => one === handling) ?? null
}

/** Returns the parameters of `/logs` and `/top`. */
export function selectTraffic(filter: LogFilter): URLSearchParams {
  const { vclGroup, agents, tags, domain } = filter
  const words = { vclGroup, agents, tags, domain, q: composeQuery(filter) }
  return new URLSearchParams(Object.entries(words).filter(([, word]) => word !== ''))
}

/** The user's own query comes first, so that positions in it can be located. */
export function composeQuery(filter: LogFilter): string {
  const own = filter.query.trim()
  const tests = listTests(filter)
  if (own === '' || tests.length === 0) return own || tests.join(' and ')
  return `(${own}) and ${tests.join(' and ')}`
}

function listTests(filter: LogFilter): readonly string[] {
  const [status, handling] = [readStatusClass(filter), readHandling(filter)]
  const hundreds = Number(status?.[0]) * 100
  return [
    status && `RespStatus >= ${hundreds} and RespStatus < ${hundreds + 100}`,
    handling && `VCL_call eq "${handling.toUpperCase()}"`,
    filter.url && `ReqURL ~ ${quote(filter.url.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))}`,
  ].flatMap((test) => test || [])
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** The query matches any record of a request, also of parts of a page; this checks the request itself against the fields. */
export function fits(request: LoggedRequest, filter: LogFilter): boolean {
  const [status, handling] = [readStatusClass(filter), readHandling(filter)]
  return (
    (status === null || Math.floor(request.status / 100) === Number(status[0])) &&
    (handling === null || request.handling === handling)
  )
}

interface Refusal {
  readonly error: CallError
  /** In the user's own query; null: elsewhere. */
  readonly mark: TextRange | null
}

/** The API counts positions in characters of the whole query, from 1. */
export function locateRefusal(error: CallError, filter: LogFilter): Refusal {
  const [start, position] = /^q, position (\d+)/.exec(error.errorMsg) ?? []
  if (start === undefined) return { error, mark: null }
  const own = filter.query.trim()
  const characters = Array.from(own)
  const isWrapped = own !== '' && listTests(filter).length > 0
  const at = Number(position) - 1 - (isWrapped ? 1 : 0)
  if (own === '' || at < 0 || at > characters.length) return { error, mark: null }
  const lead = filter.query.indexOf(own)
  const from = lead + characters.slice(0, at).join('').length
  const word = /^\S*/.exec(filter.query.slice(from))?.[0] ?? ''
  const errorMsg = `q, position ${Array.from(filter.query.slice(0, from)).length + 1}${error.errorMsg.slice(start.length)}`
  return { error: { ...error, errorMsg }, mark: { from, to: from + word.length } }
}
