/** A receiver for webhooks: keeps what it is sent, and answers as set. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { groupBy } from '../../../src/group-by.js'
import type { Json } from '../identity/people.js'
import { eventually } from '../../support/eventually.js'

export type Answer = (response: ServerResponse, request: IncomingMessage) => void

interface Received {
  readonly id: number
  readonly type: string
  readonly at: string
  readonly data: Json
  readonly text: string
  readonly signature: string
}

export interface Receiver {
  readonly url: string
  /** Also requests that were not answered. */
  readonly received: Received[]
  /** The most requests that were open at one time. */
  mostAtOnce: number
  /** The answer from now on. */
  answer: Answer
}

export const ok: Answer = (response) => response.end('thanks')

/** Ends with the test. */
export async function startReceiver(t: Test, answer: Answer = ok): Promise<Receiver> {
  const receiver: { -readonly [K in keyof Receiver]: Receiver[K] } = {
    url: '',
    received: [],
    mostAtOnce: 0,
    answer,
  }
  let open = 0
  const server = createServer((request, response) => {
    receiver.mostAtOnce = Math.max(receiver.mostAtOnce, ++open)
    response.on('close', () => open--)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const signature = String(request.headers['x-cachefleet-signature'])
      receiver.received.push({ ...(JSON.parse(text) as Received), text, signature })
      receiver.answer(response, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  receiver.url = `http://127.0.0.1:${port}/hooks/secret-path`
  return receiver
}

/** Answers everything until this event arrives, and nothing from then on; resolves when it has arrived. */
export function holdFrom(receiver: Receiver, name: string): Promise<unknown> {
  let isHeld = false
  receiver.answer = (response, request) => {
    isHeld ||= receiver.received.at(-1)?.data['name'] === name
    if (!isHeld) ok(response, request)
  }
  return eventually(`${name} is held`, () => isHeld)
}

/** The names that arrived, each once, in the order of their first arrival. */
export function listNames({ received }: Receiver): unknown[] {
  return [...new Set(received.map(({ data }) => data['name']))]
}

/** The ids with which each name arrived. */
export function listIds({ received }: Receiver): readonly (readonly number[])[] {
  const ids = groupBy(received, ({ data }) => data['name'])
  return [...ids.values()].map((same) => [...new Set(same.map(({ id }) => id))])
}
