/**
 * Only one process at a time may change the session file: a refresh token is valid once, and a second use ends the session
 * (docs/behaviour.md, Client sessions). A lock is taken over if its process is gone or it is older than any refresh.
 */
import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { CliError, exitCodes } from './cli-error.js'
import { pauseFor } from '../runtime/pause.js'

/** Longer than the timeout of a refresh (session-credentials.ts). */
const staleAfterMs = 40_000
/** Twice the longest time that a live process can hold a lock. */
const waitMs = 80_000
const pauseMs = 25

/** Rejects with CliError if the lock stays taken. */
export async function withSessionLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const mark = `${process.pid} ${randomUUID()}\n`
  const giveUpAt = performance.now() + waitMs
  while (!(await tryLock(path, mark))) {
    await removeStale(path)
    if (performance.now() > giveUpAt)
      throw new CliError(exitCodes.refused, `${path} stays locked by another cachefleet`)
    await pauseFor(pauseMs)
  }
  try {
    return await work()
  } finally {
    if ((await readMark(path)) === mark) await rm(path, { force: true })
  }
}

async function tryLock(path: string, mark: string): Promise<boolean> {
  // Created by a hard link, so that no process sees a lock without its mark.
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, mark, { mode: 0o600, flag: 'wx' })
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

async function removeStale(path: string): Promise<void> {
  const mark = await readMark(path)
  if (mark === undefined || !(await isStale(path, mark))) return
  // Renamed before it is removed: if another process has replaced the lock meanwhile, its lock is put back.
  const moved = `${path}.${randomUUID()}`
  try {
    await rename(path, moved)
    if ((await readMark(moved)) !== mark) await link(moved, path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'EEXIST')) throw error
  }
  await rm(moved, { force: true })
}

async function isStale(path: string, mark: string): Promise<boolean> {
  const processId = Number(mark.split(' ')[0])
  if (!isAlive(processId)) return true
  const status = await stat(path).catch(() => undefined)
  return status !== undefined && Date.now() - status.mtimeMs > staleAfterMs
}

function isAlive(processId: number): boolean {
  if (!Number.isInteger(processId) || processId < 1) return false
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    return !hasCode(error, 'ESRCH')
  }
}

async function readMark(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
