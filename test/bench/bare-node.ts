/** A Node process with nothing in it: what every program on it pays. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { TestEnd } from '../support/daemon.js'
import { readResidentBytes } from './process-reading.js'

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
export async function measureBareMemory(t: TestEnd): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { stdio: 'ignore' })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  await pause(2_000)
  return readResidentBytes(child.pid ?? 0)
}
