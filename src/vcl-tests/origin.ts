/**
 * The origin of a test: a loopback listener for each backend of the VCL that answers by the rules of the test. Without a matching
 * rule it answers 503, or 200 to a probe of the cache.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { matchHeaders, matchesText } from './match-text.js'
import type { BackendRule, Headers } from '../test-files/test-file.js'

interface OriginRequest {
  readonly backend: string
  readonly url: string
  readonly headers: Headers
}

interface OriginOptions {
  readonly backends: readonly string[]
  readonly rules: ReadonlyMap<string, readonly BackendRule[]>
  /** Epoch milliseconds of the cache's clock. */
  readonly now: () => number
}

/** Above the cache's own limit for request headers. */
const headLimitBytes = 128 * 1024
/** Only the newest request is read; this bounds the list. */
const requestsKept = 100

const noRule: BackendRule['respond'] = {
  status: 503,
  headers: [],
  delayMs: 0,
  close: false,
  body: 'The test has no answer for this request.\n',
}
const healthy: BackendRule['respond'] = { ...noRule, status: 200, body: '' }

export class Origin {
  readonly ports = new Map<string, number>()
  readonly #servers: Server[] = []
  readonly #options: OriginOptions
  readonly #ending = new AbortController()
  readonly #refusedProbes = new Map<string, string>()
  #requests: OriginRequest[] = []

  static async start(options: OriginOptions): Promise<Origin> {
    const origin = new Origin(options)
    for (const backend of options.backends) await origin.#listen(backend)
    return origin
  }

  private constructor(options: OriginOptions) {
    this.#options = options
  }

  /** The newest request that is not a probe, since the last `forget`. */
  get last(): OriginRequest | null {
    return this.#requests.at(-1) ?? null
  }

  /** The failing answer that the test gives to a backend's probes; null: they succeed, or there was none yet. */
  describeRefusedProbe(backend: string): string | null {
    return this.#refusedProbes.get(backend) ?? null
  }

  forget(): void {
    this.#requests = []
  }

  stop(): void {
    this.#ending.abort()
    for (const server of this.#servers) {
      server.close()
      server.closeAllConnections()
    }
  }

  async #listen(backend: string): Promise<void> {
    const server = createServer(
      { maxHeaderSize: headLimitBytes, keepAliveTimeout: 0 },
      (request, response) => {
        request.resume()
        void this.#answer(backend, request, response).catch(() => response.destroy())
      },
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    this.#servers.push(server)
    const address = server.address()
    if (typeof address === 'object' && address !== null) this.ports.set(backend, address.port)
  }

  async #answer(
    backend: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { url = '', method = '', rawHeaders } = request
    const headers = toPairs(rawHeaders)
    const rules = this.#options.rules.get(backend) ?? []
    const rule = rules.find(({ match }) => isMatch(match, { url, method, headers }))?.respond
    const isProbe = !headers.some(([name]) => /^x-(?:varnish|vinyl)$/i.test(name))
    const respond = rule ?? (isProbe ? healthy : noRule)
    if (isProbe) this.#noteProbe(backend, url, respond)
    else this.#requests = [...this.#requests, { backend, url, headers }].slice(-requestsKept)
    if (respond.delayMs > 0)
      await wait(respond.delayMs, undefined, { signal: this.#ending.signal, ref: false })
    if (respond.close) response.destroy()
    else this.#write(response, respond)
  }

  #noteProbe(backend: string, url: string, { status, close }: BackendRule['respond']): void {
    if (close || status >= 400)
      this.#refusedProbes.set(backend, `${url} with ${close ? 'nothing' : status}`)
  }

  #write(response: ServerResponse, { status, headers, body }: BackendRule['respond']): void {
    const isSet = (name: string) => headers.some(([one]) => one.toLowerCase() === name)
    response.sendDate = false
    if (!isSet('date')) response.setHeader('Date', new Date(this.#options.now()).toUTCString())
    for (const [name, value] of headers)
      response.appendHeader(name, Buffer.from(value, 'utf8').toString('latin1'))
    const isBodyless = status === 204 || status === 304
    if (!isBodyless && !isSet('content-length') && !isSet('transfer-encoding'))
      response.setHeader('Content-Length', Buffer.byteLength(body))
    response.writeHead(status)
    response.end(body)
  }
}

function isMatch(
  match: BackendRule['match'],
  { url, method, headers }: { url: string; method: string; headers: Headers },
): boolean {
  return (
    (match.url === null || matchesText(match.url, url)) &&
    (match.method === null || matchesText(match.method, method)) &&
    matchHeaders(match.headers, headers)
  )
}

function toPairs(raw: readonly string[]): Headers {
  return Array.from({ length: raw.length / 2 }, (_, index) => [
    raw[index * 2] ?? '',
    decode(raw[index * 2 + 1] ?? ''),
  ])
}

function decode(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8')
}
