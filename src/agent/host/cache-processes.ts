/**
 * Finds and ends the processes of a private cache. Manager and child are found by the working directory in their command
 * line: a pid alone is reused in time, and a child outlives its manager. From 8.0 on the child waits for up to 60 s until
 * no idle worker holds a VCL any more (cache_vcl.c, VCL_Shutdown).
 */
import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Logger } from 'pino'
import { findProductOfDaemon } from '../../../protocol/product.js'
import { pauseFor } from '../../runtime/pause.js'

/** A private cache needs no longer wait; both together stay below the 9.5 s after which the daemon gives up. */
const graceMs = 2_000
const killedTimeoutMs = 5_000
const pollPauseMs = 20

/**
 * Ends manager and child: SIGTERM to the manager, which stops its child; after a grace period SIGKILL to those that remain.
 * Returns the pids of processes that still exist: the working directory is then still in use.
 */
export async function endCacheProcesses(
  workingDirectory: string,
  log: Logger,
): Promise<readonly number[]> {
  const first = await findCacheProcesses(workingDirectory)
  if (first.length === 0) return []
  log.info({ pids: first.map(({ pid }) => pid), workingDirectory }, 'ending the cache')
  // A child without its manager ends by itself; it ignores SIGTERM.
  for (const { pid, isChild } of first) if (!isChild) sendSignal(pid, 'SIGTERM')
  await waitUntilGone(first, graceMs)
  const late = await findCacheProcesses(workingDirectory)
  if (late.length === 0) return []
  const subject = late.every(({ isChild }) => isChild) ? 'the child of the cache' : 'the cache'
  const pids = late.map(({ pid }) => pid)
  log.warn({ pids, workingDirectory }, `${subject} did not end within ${graceMs} ms: it is killed`)
  for (const pid of pids) sendSignal(pid, 'SIGKILL')
  await waitUntilGone(late, killedTimeoutMs)
  const left = (await findCacheProcesses(workingDirectory)).map(({ pid }) => pid)
  if (left.length > 0)
    log.error({ pids: left, workingDirectory }, 'the cache was killed and has not ended yet')
  return left
}

interface CacheProcess {
  readonly pid: number
  readonly isChild: boolean
}

/** Processes with this working directory as `-n`, unordered. */
async function findCacheProcesses(workingDirectory: string): Promise<readonly CacheProcess[]> {
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(pids.map((pid) => readCacheProcess(pid, workingDirectory)))
  return found.filter((one) => one !== null)
}

async function readCacheProcess(
  pid: number,
  workingDirectory: string,
): Promise<CacheProcess | null> {
  const words = (await readProcFile(pid, 'cmdline')).split('\0')
  const [program = ''] = words
  // Not `varnishlog -n` and the like, which read the same folder.
  if (findProductOfDaemon(basename(program)) === null) return null
  if (words[words.indexOf('-n') + 1] !== workingDirectory) return null
  return { pid, isChild: (await readProcFile(pid, 'comm')).trim() === 'cache-main' }
}

async function waitUntilGone(processes: readonly CacheProcess[], timeoutMs: number): Promise<void> {
  const endAt = performance.now() + timeoutMs
  for (const { pid } of processes)
    while (performance.now() < endAt && !(await isGone(pid))) await pauseFor(pollPauseMs)
}

/** A zombie counts as gone once its last thread has ended: until then it holds its ports. */
async function isGone(pid: number): Promise<boolean> {
  const stat = await readProcFile(pid, 'stat')
  // proc(5): after the name, which may itself contain blanks and parentheses, state is field 3, num_threads 20.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return stat === '' || (fields[0] === 'Z' && Number(fields[17]) <= 1)
}

/** Empty when there is no such process. */
function readProcFile(pid: number, name: string): Promise<string> {
  return readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // gone meanwhile
  }
}
