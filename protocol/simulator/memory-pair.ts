/** Two ends of a connection in memory: what is written to one is read from the other, and the end of one ends the other. */
import { duplexPair, type Duplex } from 'node:stream'

/** At most `bufferBytes` wait on each way. */
export function createMemoryPair(bufferBytes: number): readonly [client: Duplex, server: Duplex] {
  const [client, server] = duplexPair({ highWaterMark: bufferBytes })
  // The pair of Node passes on a graceful end, but not that one end was destroyed.
  client.once('close', () => server.destroy())
  server.once('close', () => client.destroy())
  return [client, server]
}
