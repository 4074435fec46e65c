/** A bare TCP connection to the listener, and everything received on it. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'

export interface Line {
  readonly socket: Socket
  readonly heard: () => string
}

export interface LineSetup {
  /** Written immediately. */
  readonly text?: string
  /** An address of this host; 127.0.0.1 by default. */
  readonly from?: string
}

/** The connection ends with the test at the latest. */
export async function openLine(
  t: Test,
  { base }: { readonly base: string },
  { text = '', from = '127.0.0.1' }: LineSetup = {},
): Promise<Line> {
  const port = Number(new URL(base).port)
  const socket = connect({ host: '127.0.0.1', port, localAddress: from })
  let heard = ''
  socket.on('data', (chunk) => (heard += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(text)
  return { socket, heard: () => heard }
}
