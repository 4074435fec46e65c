/** Compares an answer with a test's expectations and describes the differences. */
import type { Handling } from '../resources/logged-transaction.js'
import { findHeader, matchesText } from './match-text.js'
import type {
  AnswerExpectation,
  HeaderExpectations,
  Headers,
  TextExpectation,
} from '../test-files/test-file.js'

export interface Observed {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly handling: Handling
  /** The last backend used for this request, including background fetches; null: none. */
  readonly backend: string | null
  /** The request as the backend received it. */
  readonly backendRequest: { readonly url: string; readonly headers: Headers } | null
}

const shownCharacters = 200

/** Problems such as `expected status 200, got 503`; empty: all as expected. */
export function judgeAnswer(expect: AnswerExpectation, observed: Observed): readonly string[] {
  const { status, handling, backend, backendRequest, body } = expect
  const sent = observed.backendRequest
  const isUnsent = sent === null && backendRequest !== null
  return [
    ...judge(status === null || status === observed.status, `status ${status}`, observed.status),
    ...judge(
      handling === null || handling === observed.handling,
      `handling ${handling}`,
      observed.handling,
    ),
    ...judge(
      backend === undefined || backend === observed.backend,
      `backend ${backend ?? 'none'}`,
      observed.backend ?? 'none',
    ),
    ...judgeHeaders('header', expect.headers, observed.headers),
    ...judgeText('body', body, observed.body),
    ...judge(!isUnsent, 'a request to a backend', 'none'),
    ...(sent === null || backendRequest === null
      ? []
      : [
          ...judgeText('url at the backend', backendRequest.url, sent.url),
          ...judgeHeaders('header at the backend', backendRequest.headers, sent.headers),
        ]),
  ]
}

function judgeHeaders(
  what: string,
  expected: HeaderExpectations,
  headers: Headers,
): readonly string[] {
  return expected.flatMap(([name, value]) =>
    judgeText(`${what} ${name}`, value, findHeader(headers, name)),
  )
}

function judgeText(
  what: string,
  expected: TextExpectation | null,
  text: string | null,
): readonly string[] {
  const isRight = expected === null || matchesText(expected, text)
  return isRight ? [] : judge(false, `${what} ${describe(expected)}`, quote(text))
}

function judge(isRight: boolean, expected: string, got: string | number): readonly string[] {
  return isRight ? [] : [`expected ${expected}, got ${got}`]
}

function describe(expected: TextExpectation): string {
  if (expected.kind === 'absent') return 'not to be there'
  if (expected.kind === 'matches') return `to match /${cut(expected.text)}/`
  const text = quote(expected.text)
  return expected.kind === 'contains' ? `to contain ${text}` : text
}

function quote(text: string | null): string {
  return text === null ? 'none' : JSON.stringify(cut(text))
}

function cut(text: string): string {
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text
}
