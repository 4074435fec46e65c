/** Which private cache we started, written down so that one that outlived a killed agent is found again and ended. */
import { readFile, rm } from 'node:fs/promises'
import { writeDurably } from '../../runtime/durable-file.js'

interface ProcessRecord {
  /** Of the manager; for people, the working directory tells which processes are meant. */
  readonly pid: number
  /** Removed with the processes when it is a temporary one. */
  readonly workingDirectory: string
  readonly port: number
  readonly httpPort: number
}

/** Null when there is none, or it cannot be read. */
export async function readProcessRecord(path: string): Promise<ProcessRecord | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isProcessRecord(value) ? value : null
  } catch {
    return null
  }
}

export async function writeProcessRecord(path: string, record: ProcessRecord): Promise<void> {
  await writeDurably(path, `${JSON.stringify(record)}\n`)
}

export async function forgetProcess(path: string): Promise<void> {
  await rm(path, { force: true })
}

function isProcessRecord(value: unknown): value is ProcessRecord {
  if (typeof value !== 'object' || value === null) return false
  const record = value as Record<string, unknown> // every field is checked below
  return (
    ['pid', 'port', 'httpPort'].every((key) => Number.isSafeInteger(record[key])) &&
    typeof record['workingDirectory'] === 'string'
  )
}
