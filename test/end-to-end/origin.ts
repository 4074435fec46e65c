/** An origin that records its requests, and a client that can send any Host. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { Varnishd } from '../support/varnishd.js'

export interface Origin {
  readonly port: number
  /** The received requests: their paths with their headers. */
  readonly seen: { readonly url: string; readonly headers: NodeJS.Dict<string | string[]> }[]
  /** Bodies by path; the default is `secret of <name>`. */
  readonly answers: Map<string, string>
  /** Closes the origin's port. */
  stop(): void
}

export interface Answered {
  readonly status: number
  readonly mark: string | undefined
  readonly hits: string | undefined
  readonly body: string
  readonly headers: NodeJS.Dict<string | string[]>
}

/** Without `Host` if it is null. Status 0 if there is no answer. */
export function ask(
  cache: Varnishd,
  host: string | null,
  more: {
    readonly method?: string
    readonly path?: string
    readonly headers?: Record<string, string>
  } = {},
): Promise<Answered> {
  return new Promise((resolve) => {
    const asked = request({
      host: cache.host,
      port: cache.httpPort,
      agent: false,
      setHost: false,
      method: more.method ?? 'GET',
      path: more.path ?? '/',
      headers: { ...(host === null ? {} : { host }), ...more.headers },
    })
    asked.on('error', () => {
      resolve({ status: 0, mark: undefined, hits: undefined, body: '', headers: {} })
    })
    asked.on('response', (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.on('end', () => {
        const { headers, statusCode = 0 } = response
        const [mark, hits] = [headers['x-marker'], headers['x-hits']].map((one) => one?.toString())
        resolve({ status: statusCode, mark, hits, body, headers })
      })
    })
    asked.end()
  })
}

export async function startOrigin(t: Test, name: string): Promise<Origin> {
  const seen: Origin['seen'][number][] = []
  const answers = new Map<string, string>()
  const server = createServer(({ url = '', headers }, response) => {
    seen.push({ url, headers })
    response.end(answers.get(url) ?? `secret of ${name}`)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const stop = (): void => {
    server.closeAllConnections()
    server.close()
  }
  t.teardown(stop)
  const { port } = server.address() as AddressInfo // a TCP server has this form
  return { port, seen, answers, stop }
}
