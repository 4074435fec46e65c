/** Reads the log stream (`GET /logs`); reconnects when it breaks, until the view is left or the coordinator ends it. */
import { readStreamEvents } from '../../../cli/event-stream.js'
import type { LoggedRequest } from '../../../resources/logged-transaction.js'
import { send } from '../../api/call.js'
import { isTransient } from '../../api/connection.js'
import { readOutcome, refuse, type CallError } from '../../api/http.js'
import { pauseAfterFailure, readTexts, standsAfterMs } from '../../api/stream.js'

/** `broken`: the stream reconnects automatically. */
export type LogPhase =
  | { readonly kind: 'connecting' | 'live' | 'paused' }
  | { readonly kind: 'broken' | 'ended'; readonly error: CallError }

interface LogListener {
  readonly onPhase: (phase: LogPhase) => void
  readonly onRequest: (request: LoggedRequest) => void
  readonly onDropped: (count: number) => void
  /** Called when a cache sends no more requests. */
  readonly onEnded: (agentId: number, reason: string) => void
}

const broken = refuse('The stream broke off.')

/** Runs until `signal` aborts or the stream cannot continue. Never rejects. */
export async function keepLog(
  words: string,
  signal: AbortSignal,
  listener: LogListener,
): Promise<void> {
  for (let failures = 0; ;) {
    const startedAt = performance.now()
    const end = await readLog(words, signal, listener)
    if (signal.aborted) return
    listener.onPhase(end)
    if (end.kind === 'ended') return
    failures = performance.now() - startedAt > standsAfterMs ? 1 : failures + 1
    await pauseAfterFailure(failures)
  }
}

interface LogEnd {
  readonly kind: 'broken' | 'ended'
  readonly error: CallError
}

async function readLog(words: string, signal: AbortSignal, listener: LogListener): Promise<LogEnd> {
  const answer = await send('GET', `/logs?${words}`, { signal })
  const refusal = await readRefusal(answer)
  if (refusal) return { kind: isTransient(refusal) ? 'broken' : 'ended', error: refusal }
  if (!(answer instanceof Response) || !answer.body) return { kind: 'broken', error: broken }
  listener.onPhase({ kind: 'live' })
  let end: LogEnd = { kind: 'broken', error: broken }
  try {
    for await (const { event, data } of readStreamEvents(readTexts(answer.body), '')) {
      if (signal.aborted) return end
      end = hand(event, data, listener) ?? end
    }
  } catch {
    // Broken off.
  }
  return end
}

async function readRefusal(answer: Response | CallError): Promise<CallError | null> {
  if (!(answer instanceof Response)) return answer
  if (answer.ok) return null
  const outcome = await readOutcome(answer)
  return outcome.ok ? null : outcome.error
}

/** Returns the reason for which the stream would end now; null: no change. */
function hand(event: string | undefined, text: string, listener: LogListener): LogEnd | null {
  if (event === undefined) return null
  const data: unknown = JSON.parse(text)
  // The API's document guarantees these shapes.
  if (event === 'transaction') listener.onRequest(data as LoggedRequest)
  if (event === 'dropped') listener.onDropped((data as { readonly dropped: number }).dropped)
  if (event !== 'ended') return null
  const { agent, reason } = data as { readonly agent: number | null; readonly reason: string }
  // After its time limit or a stop of the coordinator, the stream restarts.
  if (agent === null) return { kind: 'broken', error: refuse(`The log ended: ${reason}`) }
  listener.onEnded(agent, reason)
  return { kind: 'ended', error: refuse(reason) }
}
