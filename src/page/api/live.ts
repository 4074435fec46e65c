/**
 * The single event stream of this page (`GET /events`): opened with the first subscriber, resumed after the last event when it
 * breaks, closed with the last subscriber. Read with fetch, since EventSource cannot send a token.
 */
import { effect, signal } from '@preact/signals'
import { readStreamEvents } from '../../cli/event-stream.js'
import { session } from '../session/access.js'
import { send } from './call.js'
import type { LiveEvent, LiveType, Sample } from './live-event.js'
import { optInEventTypes } from '../../resources/event.js'
import { pauseAfterFailure, readTexts, standsAfterMs } from './stream.js'

/** The API's limit. */
const maxSampled = 100

/** `idle`: no subscribers. */
export const liveState = signal<'idle' | 'live' | 'broken'>('idle')

interface Listener {
  readonly types: readonly LiveType[]
  readonly notify: (event: LiveEvent) => void
}
interface SampleSubscriber {
  readonly agents: readonly number[]
  readonly notify: (sample: Sample) => void
}

/** Views mount and unmount together: the stream is opened once, for their final subscriptions. */
const settleMs = 50

const listeners = new Set<Listener>()
const sampleSubscribers = new Set<SampleSubscriber>()
let lastId = ''
let stream: { readonly abort: AbortController; readonly live: string } | undefined
let settling: ReturnType<typeof setTimeout> | undefined

/** Returns a function that unsubscribes. Every subscriber gets `reset`. */
export function subscribeToEvents(
  types: readonly LiveType[],
  notify: (event: LiveEvent) => void,
): () => void {
  return join(listeners, { types, notify })
}

/** Subscribes to the samples of these caches; at most 100 caches of all views together are sampled, the rest are not. */
export function subscribeToSamples(
  agents: readonly number[],
  notify: (sample: Sample) => void,
): () => void {
  return join(sampleSubscribers, { agents, notify })
}

/** Restarts the stream for each new login and stops it at logout. */
export function followSession(): void {
  let login: number | undefined
  effect(() => {
    const now = typeof session.value === 'object' ? session.value?.who.session.id : undefined
    if (now === login) return
    login = now
    lastId = ''
    stopStream()
    if (now !== undefined) settle()
  })
}

function join<T>(all: Set<T>, one: T): () => void {
  all.add(one)
  settle()
  return () => {
    all.delete(one)
    settle()
  }
}

function settle(): void {
  clearTimeout(settling)
  settling = setTimeout(() => {
    const isIn = typeof session.value === 'object' && session.value !== null
    const isWanted = isIn && listeners.size + sampleSubscribers.size > 0
    const ids = new Set([...sampleSubscribers].flatMap(({ agents }) => agents))
    const live = [...ids].slice(0, maxSampled).join(',')
    if (isWanted && stream?.live === live) return
    stopStream()
    if (isWanted) startStream(live)
  }, settleMs)
}

function startStream(live: string): void {
  const abort = new AbortController()
  stream = { abort, live }
  void keepStream(live, abort.signal) // never rejects
}

function stopStream(): void {
  stream?.abort.abort()
  stream = undefined
  liveState.value = 'idle'
}

async function keepStream(live: string, signal: AbortSignal): Promise<void> {
  let failures = 0
  for (;;) {
    const stood = await readStream(live, signal)
    if (signal.aborted) return
    // Each stream ends when its token expires and is resumed at once; that is not counted as a failure.
    failures = stood ? 0 : failures + 1
    if (!stood) liveState.value = 'broken'
    if (!stood) await pauseAfterFailure(failures)
  }
}

/** Reads until the stream ends. Returns whether it stayed open long enough to count as a success. */
async function readStream(live: string, signal: AbortSignal): Promise<boolean> {
  const query = `also=${optInEventTypes.join(',')}${live === '' ? '' : `&live=${live}`}`
  const answer = await send('GET', `/events?${query}`, {
    signal,
    headers: lastId === '' ? {} : { 'last-event-id': lastId },
  })
  if (!(answer instanceof Response) || !answer.ok || !answer.body) return false
  liveState.value = 'live'
  // Without an event id to resume after, changes since the subscribers' last reads are unknown.
  if (lastId === '') hand('reset', '{}')
  const startedAt = performance.now()
  try {
    for await (const { id, event, data } of readStreamEvents(readTexts(answer.body), lastId)) {
      if (signal.aborted) return true
      lastId = id
      if (event !== undefined) hand(event, data)
    }
  } catch {
    // Broken off: what was missed comes with the next one.
  }
  return performance.now() - startedAt > standsAfterMs
}

function hand(event: string, text: string): void {
  const data: unknown = JSON.parse(text)
  if (event === 'sample') {
    const sample = data as Sample // the type that the API documentation promises
    for (const { agents, notify } of sampleSubscribers)
      if (agents.includes(sample.agent.id)) notify(sample)
    return
  }
  const type = event as LiveEvent['type']
  for (const { types, notify } of listeners)
    if (type === 'reset' || types.includes(type)) notify({ type, data: data as LiveEvent['data'] })
}
