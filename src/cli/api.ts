/** The controller API for verbs: sends the token, renews it once on expiry, and throws errors as CliError. */
import { isFields, parseJson, requireFields, requireList, type Fields } from './api-shapes.js'
import { CliError, exitCodes, unanswered, type ExitCode } from './cli-error.js'
import { callHttp, openHttp, readAnswer, type HttpAnswer } from './http-call.js'
import { nameFlags } from './name-flags.js'

export interface Server {
  /** Without a trailing slash. */
  readonly url: string
  readonly ca: string | undefined
  /** Shared by all calls of this command. */
  readonly traceId: string
}

export interface Credentials {
  readToken(): Promise<string>
  /** Called after a 401. Returns a token other than `used`, or undefined. */
  renewToken(used: string): Promise<string | undefined>
}

interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Relative to `/api/v1`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly body?: Fields | undefined
  /** ETag of the state to change; the coordinator refuses the call if the state differs. */
  readonly ifMatch?: string | undefined
  readonly timeoutMs?: number | undefined
}

interface ApiAnswer {
  readonly status: number
  /** Parsed; undefined if there is no body. */
  readonly body: unknown
  /** `X-Total-Count`; null if absent. */
  readonly total: number | null
  readonly etag?: string | undefined
}

export interface Api {
  /** Shared by all calls of this command. */
  readonly traceId: string
  call(request: ApiRequest): Promise<ApiAnswer>
  readObject(path: string, query?: Readonly<Record<string, string>>): Promise<Fields>
  readList(path: string, query?: Readonly<Record<string, string>>): Promise<readonly Fields[]>
  readPage(path: string, query: Readonly<Record<string, string>>): Promise<Page>
  /** Opens a text stream that lasts until either side ends it. */
  listen(path: string, headers: Readonly<Record<string, string>>): Promise<AsyncIterable<string>>
}

export interface Page {
  readonly rows: readonly Fields[]
  /** Number of rows after the filters, before `take`; null if not given. */
  readonly total: number | null
}

/** Called after every exchange, for `--verbose`; never receives tokens or bodies. */
export type ReportCall = (line: string) => void

/** Longer than the API's own timeout for calls to agents. */
const answerTimeoutMs = 60_000

/** Three of the comments that an event stream sends every 15 s (docs/behaviour.md, Events). */
const silenceMs = 50_000

export function createApi(server: Server, credentials: Credentials, report: ReportCall): Api {
  /** Sends once more with a renewed token if the first token is rejected. */
  const withToken = async <T extends { readonly status: number }>(
    send: (authorization: string) => Promise<T>,
  ): Promise<T> => {
    const token = await credentials.readToken()
    const answer = await send(`Bearer ${token}`)
    if (answer.status !== 401) return answer
    const renewed = await credentials.renewToken(token)
    return renewed === undefined ? answer : send(`Bearer ${renewed}`)
  }
  const call = async (request: ApiRequest): Promise<ApiAnswer> =>
    checkAnswer(
      await withToken((authorization) => sendRequest(server, request, authorization, report)),
      server,
    )
  return {
    traceId: server.traceId,
    call,
    listen: async (path, headers) => {
      const { incoming } = await withToken((authorization) =>
        openStream(server, { path, headers: { ...headers, authorization } }, report),
      )
      if (incoming.statusCode === 200) return incoming.setEncoding('utf8')
      checkAnswer(await readAnswer(incoming), server)
      throw unanswered(`${server.url} is not a coordinator: it sends no events`, server.traceId)
    },
    readObject: async (path, query) =>
      requireFields((await call({ method: 'GET', path, query })).body),
    readList: async (path, query) => requireList((await call({ method: 'GET', path, query })).body),
    readPage: async (path, query) => {
      const { body, total } = await call({ method: 'GET', path, query })
      return { rows: requireList(body), total }
    },
  }
}

/** `authorization`: value of the header; null sends none. */
export async function sendRequest(
  { url, ca, traceId }: Server,
  request: ApiRequest,
  authorization: string | null,
  report: ReportCall,
): Promise<HttpAnswer> {
  const { method, path, query = {}, body, ifMatch, timeoutMs = answerTimeoutMs } = request
  const target = new URL(`${url}/api/v1${path}`)
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value)
  const startedAt = performance.now()
  const answer = await callHttp({
    method,
    url: target,
    headers: {
      ...(authorization === null ? {} : { authorization }),
      accept: 'application/json',
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    timeoutMs,
    ca,
    traceId,
  })
  report(
    `${method} ${target.href} ${answer.status} ${Math.round(performance.now() - startedAt)} ms`,
  )
  return answer
}

async function openStream(
  { url, ca, traceId }: Server,
  { path, headers }: { readonly path: string; readonly headers: Readonly<Record<string, string>> },
  report: ReportCall,
) {
  const target = new URL(`${url}/api/v1${path}`)
  const given = { ...headers, accept: 'text/event-stream' }
  const call = { method: 'GET', url: target, headers: given, timeoutMs: answerTimeoutMs }
  const incoming = await openHttp({ ...call, ca, traceId }, silenceMs)
  const status = incoming.statusCode ?? 0
  report(`GET ${target.href} ${status}`)
  return { status, incoming }
}

/** Throws CliError unless the response is a successful one from a coordinator. */
export function checkAnswer(answer: HttpAnswer, { url, traceId }: Server): ApiAnswer {
  const { status, contentType, totalCount, etag, text } = answer
  const body = parseJson(text)
  if (status >= 200 && status < 300 && (text === '' || body !== undefined))
    return { status, body, total: totalCount === '' ? null : Number(totalCount), etag }
  if (isFields(body) && typeof body['errorMsg'] === 'string')
    throw new CliError(exitCodeOf(status), nameFlags(body['errorMsg']), { status, body })
  const what = `${status} ${contentType.split(';')[0] ?? ''}`.trimEnd()
  throw unanswered(`${url} is not a coordinator: it answered ${what}`, traceId)
}

function exitCodeOf(status: number): ExitCode {
  return status === 401 || status === 403 ? exitCodes.denied : exitCodes.refused
}
