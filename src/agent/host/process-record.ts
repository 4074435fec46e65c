/** Record of the private cache that was started, so that one that outlives a killed agent is found and ended. */
import { rm } from 'node:fs/promises'
import { Type } from 'typebox'
import { parseFitting, prepareGuard } from '../../mismatch.js'
import { text, whole, type Fitting } from '../../resources/json-fields.js'
import { readIfThere, writeDurably } from '../../runtime/durable-file.js'

const processRecord = Type.Object({
  /** Pid of the manager, for people; the program finds the processes by their working directory. */
  pid: whole(0),
  /** Removed with the processes if it is temporary. */
  workingDirectory: text,
  port: whole(0),
  httpPort: whole(0),
})
export type ProcessRecord = Fitting<typeof processRecord>

const isProcessRecord = prepareGuard(processRecord)

/** Null when it does not exist or cannot be read. */
export async function readProcessRecord(path: string): Promise<ProcessRecord | null> {
  const kept = await readIfThere(path).catch(() => null)
  return parseFitting(kept ?? '', isProcessRecord) ?? null
}

export async function writeProcessRecord(path: string, record: ProcessRecord): Promise<void> {
  await writeDurably(path, `${JSON.stringify(record)}\n`)
}

export async function forgetProcess(path: string): Promise<void> {
  await rm(path, { force: true })
}
