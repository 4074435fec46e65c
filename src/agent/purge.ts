/** Purges: one request for each URL to where the cache serves its clients. */
import { Agent, request } from 'node:http'
import { purgeHeader } from '../domain/prologue.js'
import type { PurgeOrder, PurgeRequest } from '../messages/coordinator-to-agent.js'

export interface PurgeTarget {
  readonly host: string
  readonly port: number
}

export interface PurgeOutcome {
  readonly isDone: boolean
  /** What is not right, or not certain. */
  readonly error: string | null
  /** The cache was not reached: to be tried again. */
  readonly trouble: string | null
}

/** Chosen by us: requests of one entry side by side. */
const sideBySide = 8
const timeoutMs = 10_000
const namedLimit = 3

/** Never rejects. */
export async function sendPurges(target: PurgeTarget, order: PurgeOrder): Promise<PurgeOutcome> {
  const connections = new Agent({ keepAlive: true, maxSockets: sideBySide })
  const waiting = [...order.requests]
  const failed: string[] = []
  const faults: string[] = []
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next && faults.length === 0; next = waiting.shift())
      try {
        const status = await sendPurge(target, connections, { ...order, ...next })
        if (status < 200 || status > 299) failed.push(`${next.host}${next.path}: ${status}`)
      } catch (error) {
        faults.push(
          `the cache was not reached: ${error instanceof Error ? error.message : String(error)}`,
        )
      }
  }
  await Promise.all(Array.from({ length: sideBySide }, work))
  connections.destroy()
  const [trouble = null] = faults
  if (failed.length > 0) {
    const shown = failed.slice(0, namedLimit).join(', ')
    const more = failed.length > namedLimit ? ` and ${failed.length - namedLimit} more` : ''
    return { isDone: false, trouble, error: `not purged: ${shown}${more}` }
  }
  if (order.requests.length === 0) return { isDone: true, trouble, error: null }
  // Whether the cache removed anything only its counters tell (MAIN.n_purges).
  return { isDone: true, trouble, error: 'unconfirmed' }
}

function sendPurge(
  { host, port }: PurgeTarget,
  agent: Agent,
  { method, path, host: hostHeader, headers, secret }: PurgeOrder & PurgeRequest,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        ...{ host, port, agent, method, path },
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
    // Of the whole request: an answer that trickles must not hold up the log.
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
