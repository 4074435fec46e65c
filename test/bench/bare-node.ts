/** A Node process with nothing in it, or with nothing but a link: what every program on it pays. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { TestEnd } from '../support/daemon.js'
import { root } from '../support/root.js'
import { readResidentBytes } from './process-reading.js'

const idleScript = 'setInterval(() => 0, 1000)'
/** As an agent holds one, with the modules of Node that this takes. */
const linkedScript = `
  const { WebSocket, WebSocketServer } = require('ws')
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 }, () => {
    new WebSocket('ws://127.0.0.1:' + server.address().port)
  })`

/** From its start to its end, milliseconds. */
export function measureBareStart(): Promise<number> {
  return measureRun(['-e', '0'])
}

/** Rejects when it does not end with 0. */
export async function measureRun(words: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, words, { stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`node ${words.join(' ')} ended with ${String(code)}`)
  return performance.now() - startedAt
}

/** Bytes in memory some seconds after its start. */
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
