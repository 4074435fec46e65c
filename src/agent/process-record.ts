/**
 * Which process we started, written down so that one that outlived a killed agent is found again and ended. A process id
 * alone would not do: it is given to others in time, so the start time goes with it (proc(5), stat, field 22).
 */
import { readFile, rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { writeDurably } from './durable-file.js'

export interface ProcessRecord {
  readonly pid: number
  /** Clock ticks since the machine started. */
  readonly startTime: string
  /** Removed with the process when it is a temporary one. */
  readonly workingDirectory: string
  readonly port: number
  readonly httpPort: number
}

const endTimeoutMs = 5_000
const lookPauseMs = 20

/** Null when there is none, or it cannot be read. */
export async function readProcessRecord(path: string): Promise<ProcessRecord | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isProcessRecord(value) ? value : null
  } catch {
    return null
  }
}

export async function writeProcessRecord(
  path: string,
  record: Omit<ProcessRecord, 'startTime'>,
): Promise<void> {
  const startTime = await readStartTime(record.pid)
  if (startTime === null) return // gone already
  await writeDurably(path, `${JSON.stringify({ ...record, startTime })}\n`)
}

/** Ends the recorded process if it is still that one; answers whether it was. */
export async function endRecordedProcess(record: ProcessRecord): Promise<boolean> {
  if ((await readStartTime(record.pid)) !== record.startTime) return false
  await endProcess(record.pid, async () => (await readStartTime(record.pid)) !== record.startTime)
  return true
}

/** SIGTERM, after 5 s SIGKILL; resolves when `isGone` says so. */
export async function endProcess(pid: number, isGone: () => Promise<boolean>): Promise<void> {
  signal(pid, 'SIGTERM')
  const killAt = performance.now() + endTimeoutMs
  let isKilled = false
  while (!(await isGone())) {
    if (!isKilled && performance.now() > killAt) {
      signal(pid, 'SIGKILL')
      isKilled = true
    }
    await wait(lookPauseMs)
  }
}

export async function forgetProcess(path: string): Promise<void> {
  await rm(path, { force: true })
}

/** Null when there is no such process, or it only waits to be reaped. */
async function readStartTime(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  // The name in parentheses may itself hold blanks and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields === undefined || fields[0] === 'Z' ? null : (fields[19] ?? null)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // gone meanwhile
  }
}

function isProcessRecord(value: unknown): value is ProcessRecord {
  if (typeof value !== 'object' || value === null) return false
  const record = value as Record<string, unknown> // every field is checked below
  return (
    ['pid', 'port', 'httpPort'].every((key) => Number.isSafeInteger(record[key])) &&
    ['startTime', 'workingDirectory'].every((key) => typeof record[key] === 'string')
  )
}
