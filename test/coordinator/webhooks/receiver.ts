/** What listens for webhooks: keeps what it is sent, and answers as it is told. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Test } from 'tap'
import type { Json } from '../identity/people.js'

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
  /** Also what was not answered. */
  readonly received: Received[]
  /** From now on. */
  answer: Answer
}

export const ok: Answer = (response) => response.end('thanks')

/** Ends with the test. */
export async function startReceiver(t: Test, answer: Answer = ok): Promise<Receiver> {
  const receiver: { -readonly [K in keyof Receiver]: Receiver[K] } = {
    url: '',
    received: [],
    answer,
  }
  const server = createServer((request, response) => {
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
