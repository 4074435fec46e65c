/** A client subscribed to `/events`, as a script would be: it stores received events. */
import { request, type IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import { eventually } from './eventually.js'

interface ReceivedEvent {
  readonly id: number
  readonly event: string
  readonly data: Record<string, unknown>
}

export interface EventClient {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly events: ReceivedEvent[]
  /** Events of this type only. */
  of(event: string): ReceivedEvent[]
  /** The newest id received, with an event or alone. */
  readonly lastId: number
  readonly comments: number
  readonly closed: boolean
  /** Stops reading the connection until `resume`. */
  pause(): void
  resume(): void
  close(): void
}

interface ListenOptions {
  readonly token: string
  readonly lastEventId?: number | string
  readonly query?: string
  /** Path of another stream than the events. */
  readonly path?: string
}

/** Resolves with the response head; closes with the test. */
export async function listen(
  t: Test,
  base: string,
  { token, lastEventId, query = '', path = '/events' }: ListenOptions,
): Promise<EventClient> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
  }
  const events: ReceivedEvent[] = []
  let [comments, lastId, rest, closed] = [0, 0, '', false]
  const outgoing = request(`${base}/api/v1${path}${query}`, { headers, agent: false })
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject).end()
  })
  outgoing.on('error', () => undefined)
  answer.setEncoding('utf8')
  answer.on('close', () => (closed = true)).on('error', () => undefined)
  answer.on('data', (piece: string) => {
    const blocks = (rest + piece).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      if (block.startsWith(':')) comments++
      const fields = new Map(
        block
          .split('\n')
          .map((line) => [line.split(':', 1)[0] ?? '', line.slice(line.indexOf(':') + 2)] as const),
      )
      lastId = Number(fields.get('id') ?? lastId)
      const event = fields.get('event')
      if (event === undefined) continue
      const data = JSON.parse(fields.get('data') ?? '') as Record<string, unknown> // objects
      events.push({ id: lastId, event, data })
    }
  })
  const close = (): void => {
    outgoing.destroy()
  }
  t.teardown(close)
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    events,
    of: (event) => events.filter((one) => one.event === event),
    get lastId() {
      return lastId
    },
    get comments() {
      return comments
    },
    get closed() {
      return closed
    },
    pause: () => answer.pause(),
    resume: () => answer.resume(),
    close,
  }
}

/** Waits until it received an event of this type whose data has these fields. */
export function heard(
  client: EventClient,
  event: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<ReceivedEvent> {
  return eventually(`event ${event} with ${JSON.stringify(fields)}`, () =>
    client
      .of(event)
      .find(({ data }) =>
        Object.entries(fields).every(
          ([name, value]) => JSON.stringify(data[name]) === JSON.stringify(value),
        ),
      ),
  )
}
