/** Parts of a benchmark that run in their own processes and answer each message with one message. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { TestEnd } from '../support/daemon.js'

export interface Child<Order, Answer> {
  readonly pid: number
  /** The next message; rejects if the process ends first. */
  receive(): Promise<Answer>
  /** Sends an order and waits for its answer. */
  ask(order: Order): Promise<Answer>
}

const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href

/** `file` is beside this one, `words` are its arguments. The process ends when it is disconnected. */
export function startChild<Order extends object, Answer>(
  t: TestEnd,
  file: string,
  words: readonly string[] = [],
): Child<Order, Answer> {
  const program = fileURLToPath(new URL(file, import.meta.url))
  const child = fork(program, [...words], {
    execArgv: [`--import=${loader}`],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    if (child.connected) child.disconnect()
    await exited
  })
  const receive = async (): Promise<Answer> => {
    const ended = exited.then((): never => {
      throw new Error(`${file} ended`)
    })
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [Answer]
    return message // both ends use the same types
  }
  return {
    pid: child.pid ?? 0,
    receive,
    ask: async (order) => {
      const answer = receive()
      child.send(order)
      return answer
    },
  }
}
