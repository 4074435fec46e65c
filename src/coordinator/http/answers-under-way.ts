/** Tracks which answer a connection is sending, so that later data of the connection does not overtake it. */
import type { createServer, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Undefined if none; with several calls at once, the last one's answer. */
export type FindAnswer = (socket: Duplex) => ServerResponse | undefined

/** Call before the server listens. */
export function trackAnswers(server: Pick<ReturnType<typeof createServer>, 'on'>): FindAnswer {
  const answering = new WeakMap<Duplex, ServerResponse>()
  server.on('request', ({ socket }, response) => {
    answering.set(socket, response)
    response.once('close', () => {
      if (answering.get(socket) === response) answering.delete(socket)
    })
  })
  return (socket) => answering.get(socket)
}
