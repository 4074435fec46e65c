/** A private nats-server for a test: on a free loopback port, without files, stopped at teardown. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { atExit } from './at-exit.js'
import { eventually } from './eventually.js'
import { findFreePort } from './free-port.js'

export interface NatsServer {
  readonly url: string
  readonly port: number
  /** Ends every connection at once, like a crash. */
  stop(): Promise<void>
  start(): Promise<void>
}

interface Teardown {
  teardown(handler: () => Promise<void>): void
}

const program = '/usr/sbin/nats-server'
const startAttempts = 5

/** `words`: further flags, such as `--user` and `--pass`. */
export async function startNats(t: Teardown, words: readonly string[] = []): Promise<NatsServer> {
  let running: ChildProcess | undefined
  let port = 0
  const end = async (): Promise<void> => {
    const child = running
    running = undefined
    if (child?.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  const forget = atExit(() => running?.kill('SIGKILL'))
  t.teardown(async () => {
    await end()
    forget()
  })

  for (let attempt = 1; running === undefined; attempt++) {
    port = await findFreePort()
    const child = await serve(port, words)
    if (typeof child !== 'string') running = child
    else if (attempt === startAttempts) throw new Error(`nats-server did not start: ${child}`)
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    stop: end,
    start: async () => {
      const child = await serve(port, words)
      if (typeof child === 'string') throw new Error(`nats-server did not start: ${child}`)
      running = child
    },
  }
}

/** Returns the running server, or the reason why it did not start. */
async function serve(port: number, words: readonly string[]): Promise<ChildProcess | string> {
  const child = spawn(program, ['-a', '127.0.0.1', '-p', String(port), ...words], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-4096)))
  const failed = new Promise<string>((resolve) => {
    child.once('error', (error) => {
      resolve(error.message)
    })
    child.once('exit', () => {
      resolve(log)
    })
  })
  const isReady = eventually('nats-server answers', () => {
    return log.includes('Server is ready') && (child.exitCode !== null || answers(port))
  })
  const failure = await Promise.race([failed, isReady.then(() => undefined)])
  if (failure === undefined) return child
  child.kill('SIGKILL')
  return failure
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => {
      resolve(false)
    })
  })
}
