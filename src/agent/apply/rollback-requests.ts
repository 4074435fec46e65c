/**
 * How `cachefleetd rollback` and the agent of the same state dir speak: a request and an answer, each a file. Who may write
 * there may stop the agent, too; and a request is there also when the agent starts only later.
 */
import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '../../runtime/durable-file.js'
import { pauseFor } from '../../runtime/pause.js'

export interface RollbackRequest {
  readonly id: string
  /** Of a good state; null: the newest that served something else. */
  readonly number: number | null
}

interface RollbackAnswer {
  /** Of the request. */
  readonly id: string
  readonly done: boolean
  readonly message: string
}

const requestFile = 'rollback-request.json'
const answerFile = 'rollback-answer.json'
const lookPauseMs = 100

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
    const answer = await readJson(join(stateDir, answerFile))
    if (isAnswer(answer) && answer.id === request.id) return answer
    await pauseFor(lookPauseMs)
  }
  return undefined
}

/** Null when there is none. What is no request is removed. Rejects when it cannot be read. */
export async function findRequest(stateDir: string): Promise<RollbackRequest | null> {
  const path = join(stateDir, requestFile)
  const request = await readJson(path)
  if (request === undefined) return null
  if (isRequest(request)) return request
  await rm(path, { force: true })
  return null
}

/** The request is done with: it is removed before the answer is there, so that it is not carried out again. */
export async function answerRequest(stateDir: string, answer: RollbackAnswer): Promise<void> {
  await rm(join(stateDir, requestFile), { force: true })
  await writeDurably(join(stateDir, answerFile), `${JSON.stringify(answer)}\n`)
}

/** Undefined without the file; null when it is not JSON. */
async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isRequest(value: unknown): value is RollbackRequest {
  if (!isFields(value) || typeof value['id'] !== 'string') return false
  return value['number'] === null || Number.isSafeInteger(value['number'])
}

function isAnswer(value: unknown): value is RollbackAnswer {
  return isFields(value) && typeof value['id'] === 'string' && typeof value['message'] === 'string'
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
