/** `--metrics-listen`: answers `GET /metrics` with the cache's counters, without a login and so on loopback by default. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { openListener, type Listener } from '../host/open-listener.js'
import { isGetOf, safeHeaders } from '../host/plain-answer.js'
import { addReading, type CounterTotals } from './counter-totals.js'
import type { CounterReader } from './counter-reader.js'
import { exposeCounters, expositionType } from './exposition.js'

interface MetricsListenerOptions {
  readonly listen: { readonly host: string; readonly port: number }
  readonly reader: CounterReader
  readonly log: Logger
}

/** Enough for a handful of scrapers. */
const connectionLimit = 32
const requestTimeoutMs = 10_000

/** Rejects when it cannot listen there. */
export async function startMetricsListener(options: MetricsListenerOptions): Promise<Listener> {
  const { listen, log } = options
  const scrape = createScrape(options.reader)
  const server = createServer(
    { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs },
    (request, response) => {
      answer(request, response, scrape).catch((error: unknown) => {
        log.error({ err: error }, 'the counters could not be served')
        response.destroy()
      })
    },
  )
  server.maxConnections = connectionLimit
  const listener = await openListener(server, 'metricsListen', listen)
  log.info(
    { host: listen.host, port: listener.port },
    'the counters of the cache are served at /metrics',
  )
  return listener
}

/** One reading at a time, shared by concurrent scrapes, because each reading is compared with the previous one. */
function createScrape(reader: CounterReader): () => Promise<string> {
  let totals: CounterTotals | null = null
  let running: Promise<string> | null = null
  const read = async () => {
    const reading = await reader.read()
    if (reading === null) return exposeCounters(null)
    totals = addReading(totals, reading)
    return exposeCounters(totals.totals)
  }
  return () =>
    (running ??= read().finally(() => {
      running = null
    }))
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  scrape: () => Promise<string>,
): Promise<void> {
  if (!isGetOf('/metrics', request, response)) return
  response.writeHead(200, { ...safeHeaders, 'content-type': expositionType }).end(await scrape())
}
