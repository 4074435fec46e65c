/**
 * How `cachefleetd rollback` and the agent of the same state dir speak: a request and an answer, each a file. Who may write
 * there may stop the agent, too; and a request is there also when the agent starts only later.
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
  /** Of a good state; null: the newest that served something else. */
  number: orNull(whole(Number.MIN_SAFE_INTEGER)),
})
export type RollbackRequest = Fitting<typeof rollbackRequest>
const isRequest = prepareGuard(rollbackRequest)

const rollbackAnswer = Type.Object({
  /** Of the request. */
  id: text,
  done: flag,
  message: text,
})
type RollbackAnswer = Fitting<typeof rollbackAnswer>
const isAnswer = prepareGuard(rollbackAnswer)

const requestFile = 'rollback-request.json'
const answerFile = 'rollback-answer.json'
const pollPauseMs = 100

/** Undefined when nobody answered in time: the request stays. */
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

/** Null when there is none. What is not a request is removed. Rejects when it cannot be read. */
export async function findRequest(stateDir: string): Promise<RollbackRequest | null> {
  const path = join(stateDir, requestFile)
  const kept = await readIfThere(path)
  if (kept === null) return null
  const request = parseFitting(kept, isRequest)
  if (!request) await rm(path, { force: true })
  return request ?? null
}

/** The request is done with: it is removed before the answer is there, so that it is not carried out again. */
export async function answerRequest(stateDir: string, answer: RollbackAnswer): Promise<void> {
  await rm(join(stateDir, requestFile), { force: true })
  await writeDurably(join(stateDir, answerFile), `${JSON.stringify(answer)}\n`)
}
