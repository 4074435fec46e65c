/** Purges: sends one request per URL to the cache's client address, and reads how many purges the cache counted. */
import { Agent, request } from 'node:http'
import { purgeHeader } from '../../vcl/prologue.js'
import { countPurges, judgePurges, type PurgeAnswer, type PurgeVerdict } from './purge-outcome.js'
import type { PurgeOrder, PurgeRequest } from '../../messages/coordinator-to-agent.js'
import type { CounterReader } from '../counters/counter-reader.js'

export interface PurgeTarget {
  readonly host: string
  /** 0: no listener, the cache is only simulated. */
  readonly port: number
}

interface PurgeOutcome extends PurgeVerdict {
  /** The cache was not reached, so the purge must be retried. */
  readonly trouble: string | null
}

/** Concurrent requests of one entry. */
const sideBySide = 8
const timeoutMs = 10_000

/** `counter` reads `purgeCounter`. Never rejects. */
export async function sendPurges(
  target: PurgeTarget,
  order: PurgeOrder,
  counter: CounterReader,
): Promise<PurgeOutcome> {
  // A request to port 0 would go to port 80, and so to any server on this host.
  if (target.port === 0) return { isDone: true, error: null, trouble: null }
  const connections = new Agent({ keepAlive: true, maxSockets: sideBySide })
  const waiting = [...order.requests]
  const answers: PurgeAnswer[] = []
  const faults: string[] = []
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next && faults.length === 0; next = waiting.shift())
      try {
        const status = await sendPurge(target, connections, { ...order, ...next })
        answers.push({ url: `${next.host}${next.path}`, status })
      } catch (error) {
        faults.push(
          `the cache was not reached: ${error instanceof Error ? error.message : String(error)}`,
        )
      }
  }
  const before = await counter.read()
  await Promise.all(Array.from({ length: sideBySide }, work))
  connections.destroy()
  const [trouble] = faults
  if (trouble !== undefined) return { isDone: false, error: null, trouble }
  const counted = countPurges(before, await counter.read())
  return { ...judgePurges(order.method, answers, counted), trouble: null }
}

function sendPurge(
  { host, port }: PurgeTarget,
  agent: Agent,
  { method, path, host: hostHeader, headers, secret }: PurgeOrder & PurgeRequest,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host,
        port,
        agent,
        method,
        path,
        headers: {
          ...headers,
          ...(secret !== null && { [purgeHeader]: secret }),
          host: hostHeader,
          'content-length': 0,
        },
      },
      (answer) => {
        answer.on('error', reject)
        answer.on('end', () => {
          resolve(answer.statusCode ?? 0)
        })
        answer.resume()
      },
    )
    // For the whole request: a slow response must not delay the log.
    const late = setTimeout(
      () => call.destroy(new Error(`no answer within ${timeoutMs} ms`)),
      timeoutMs,
    )
    call.on('error', reject)
    call.on('close', () => {
      clearTimeout(late)
    })
    call.end()
  })
}
