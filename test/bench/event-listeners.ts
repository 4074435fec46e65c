/** The process with a thousand subscriptions to events: the first order opens them, each further one waits for the next event. */
import { request, type IncomingMessage } from 'node:http'

export type ListenOrder =
  | {
      readonly kind: 'listen'
      readonly url: string
      /** One per subscription. */
      readonly tokens: readonly string[]
    }
  /** Answered when each subscription has received the text once more. */
  | { readonly kind: 'wait'; readonly text: string }

export interface ListenAnswer {
  /** On the machine's clock, in milliseconds. */
  readonly at: number
}

const streams: IncomingMessage[] = []

process.on('message', (order: ListenOrder) => {
  void follow(order).then(() => process.send?.({ at: performance.timeOrigin + performance.now() }))
})
process.once('disconnect', () => process.exit())

async function follow(order: ListenOrder): Promise<void> {
  if (order.kind === 'listen') {
    for (const token of order.tokens) streams.push(await open(order.url, token))
    return
  }
  process.send?.({ at: performance.timeOrigin + performance.now() }) // it is waiting
  await Promise.all(streams.map((stream) => hear(stream, order.text)))
}

function open(url: string, token: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    request(url, { headers, agent: false }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`listening: ${answer.statusCode}`))
      answer.setEncoding('utf8').resume()
      resolve(answer)
    })
      .on('error', reject)
      .end()
  })
}

function hear(stream: IncomingMessage, text: string): Promise<void> {
  return new Promise((resolve) => {
    let heard = ''
    const listen = (piece: string): void => {
      heard += piece
      if (!heard.includes(text)) return
      stream.off('data', listen)
      resolve()
    }
    stream.on('data', listen)
  })
}
