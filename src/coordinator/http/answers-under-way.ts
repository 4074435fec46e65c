/** Which answer a connection is busy with: what comes behind its call must not overtake it. */
import type { createServer, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Undefined: none. Of several calls at once it is the last one's. */
export type FindAnswer = (socket: Duplex) => ServerResponse | undefined

/** Before the server listens. */
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
