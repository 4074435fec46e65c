/** Reverse mode `-M`: the engine connects to the client and then acts as the server (management-protocol: 3). */
import { connect, type Socket } from 'node:net'

export interface Dialer {
  readonly close: () => void
}

/** Measured on the real engine: retries 1 s after a close, and 1 s later after each failure, up to 10 s. */
const firstPauseMs = 1000
const longestPauseMs = 10_000

/** Keeps one connection to `host:port` open and passes every new one to `serve`. */
export function keepDialing(host: string, port: number, serve: (socket: Socket) => void): Dialer {
  let pauseMs = firstPauseMs
  let timer: NodeJS.Timeout | undefined
  let socket: Socket | undefined
  let isClosed = false

  const dial = () => {
    const dialled = connect({ host, port, allowHalfOpen: true, noDelay: true })
    socket = dialled
    dialled.once('connect', () => {
      pauseMs = firstPauseMs
      serve(dialled)
    })
    dialled.on('error', () => {
      pauseMs = Math.min(pauseMs + firstPauseMs, longestPauseMs)
    })
    dialled.once('close', () => {
      if (!isClosed) timer = setTimeout(dial, pauseMs)
    })
  }

  dial()
  return {
    close: () => {
      isClosed = true
      clearTimeout(timer)
      socket?.destroy()
    },
  }
}
