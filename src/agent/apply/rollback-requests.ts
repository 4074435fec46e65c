/**
 * How `cachefleetd rollback` and the agent of the same state dir communicate: a request and an answer, one file each. A user who
 * may write there may also stop the agent. A request also waits for an agent that starts later.
 */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { parseFitting, prepareGuard } from '../../mismatch.js'
import { flag, orNull, text, whole, type Fitting } from '../../resources/json-fields.js'
import { pauseFor } from '../../runtime/pause.js'
import { readIfThere, writeDurably } from '../../runtime/durable-file.js'

const rollbackRequest = Type.Object({
  id: text,
  /** Number of a good state; null: the newest that served something else. */
  number: orNull(whole(Number.MIN_SAFE_INTEGER)),
})
export type RollbackRequest = Fitting<typeof rollbackRequest>
const isRequest = prepareGuard(rollbackRequest)

const rollbackAnswer = Type.Object({
  /** Id of the request. */
  id: text,
  done: flag,
  message: text,
})
type RollbackAnswer = Fitting<typeof rollbackAnswer>
const isAnswer = prepareGuard(rollbackAnswer)

const requestFile = 'rollback-request.json'
const answerFile = 'rollback-answer.json'
const pollPauseMs = 100

/** Returns undefined when no agent answered in time; the request stays. */
export async function requestRollback(
  stateDir: string,
  number: number | null,
  waitMs: number,
): Promise<RollbackAnswer | undefined> {
  const request: RollbackRequest = { id: randomUUID(), number }
  await writeDurably(join(stateDir, requestFile), `${JSON.stringify(request)}\n`)
  const untilMs = performance.now() + waitMs
  while (performance.now() < untilMs) {
    const answer = parseFitting((await readIfThere(join(stateDir, answerFile))) ?? '', isAnswer)
    if (answer?.id === request.id) return answer
    await pauseFor(pollPauseMs)
  }
  return undefined
}

/** Returns null when there is none. Removes a file that is not a request. Rejects when it cannot be read. */
export async function findRequest(stateDir: string): Promise<RollbackRequest | null> {
  const path = join(stateDir, requestFile)
  const kept = await readIfThere(path)
  if (kept === null) return null
  const request = parseFitting(kept, isRequest)
  if (!request) await rm(path, { force: true })
  return request ?? null
}

/** Removes the request before it writes the answer, so that the request is not carried out again. */
export async function answerRequest(stateDir: string, answer: RollbackAnswer): Promise<void> {
  await rm(join(stateDir, requestFile), { force: true })
  await writeDurably(join(stateDir, answerFile), `${JSON.stringify(answer)}\n`)
}
