/** Two ends of an in-memory connection: each reads what the other writes, and closing one closes the other. */
import { duplexPair, type Duplex } from 'node:stream'

/** Buffers at most `bufferBytes` in each direction. */
export function createMemoryPair(bufferBytes: number): readonly [client: Duplex, server: Duplex] {
  const [client, server] = duplexPair({ highWaterMark: bufferBytes })
  // Node's pair passes on a graceful end, but not the destruction of one end.
  client.once('close', () => server.destroy())
  server.once('close', () => client.destroy())
  return [client, server]
}
