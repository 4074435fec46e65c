/** An empty Node process, or one with only a link: the base cost of every Node program. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { TestEnd } from '../support/daemon.js'
import { root } from '../support/root.js'
import { readResidentBytes } from './process-reading.js'

const idleScript = 'setInterval(() => 0, 1000)'
/** A link like an agent's, with the Node modules it needs. */
const linkedScript = `
  const { WebSocket, WebSocketServer } = require('ws')
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 }, () => {
    new WebSocket('ws://127.0.0.1:' + server.address().port)
  })`

/** From start to end, in milliseconds. */
export function measureBareStart(): Promise<number> {
  return measureRun(['-e', '0'])
}

/** Rejects unless the exit code is 0. */
export async function measureRun(words: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, words, { stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`node ${words.join(' ')} ended with ${String(code)}`)
  return performance.now() - startedAt
}

/** Resident bytes some seconds after its start. */
export function measureBareMemory(t: TestEnd): Promise<number> {
  return measureMemory(t, idleScript)
}

export function measureLinkedMemory(t: TestEnd): Promise<number> {
  return measureMemory(t, linkedScript)
}

async function measureMemory(t: TestEnd, script: string): Promise<number> {
  const child = spawn(process.execPath, ['-e', script], { cwd: root, stdio: 'ignore' })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  await pause(2_000)
  return readResidentBytes(child.pid ?? 0)
}
