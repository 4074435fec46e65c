/** What an agent must still know after a restart, and how it is read back from text that may be damaged. */
import type { DesiredEngine } from '../domain/desired-engine.js'

export interface AgentRecord {
  /** The coordinator whose word is taken; null before the first enrolment: then nothing is changed on the cache. */
  readonly coordinatorId: string | null
  readonly agentId: number | null
  /** Who welcomed us last: whom an unlock makes our coordinator. */
  readonly seenCoordinatorId: string | null
  /** The newest revision received, and what it wants; 0 and null before the first. */
  readonly heldRevision: number
  readonly desired: DesiredEngine | null
  /** The newest revision that the cache was seen to satisfy. */
  readonly goodRevision: number
  /** VCLs and labels that this agent loaded, each written down before it is loaded; all others are foreign. */
  readonly ours: readonly string[]
  /** The cache was taken over: from then on it is held as desired, the idle VCL included (choices: 1, --takeover). */
  readonly takenOver: boolean
  readonly lockedBecause: string | null
  /** The child was to be started and was not seen running yet: it is not stopped on purpose. */
  readonly startUnfinished: boolean
  /** The process that was seen last: another one holds nothing of ours but what its start file loaded. */
  readonly masterPid: number | null
}

export const emptyRecord: AgentRecord = {
  coordinatorId: null,
  agentId: null,
  seenCoordinatorId: null,
  heldRevision: 0,
  desired: null,
  goodRevision: 0,
  ours: [],
  takenOver: false,
  lockedBecause: null,
  startUnfinished: false,
  masterPid: null,
}

/** Null when the text is not a record, whatever the reason. */
export function parseRecord(text: string): AgentRecord | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  return isRecord(value) ? value : null
}

function isRecord(value: unknown): value is AgentRecord {
  if (!isObject(value)) return false
  return (
    isOrNull(value['coordinatorId'], isText) &&
    isOrNull(value['agentId'], isCount) &&
    isOrNull(value['seenCoordinatorId'], isText) &&
    isCount(value['heldRevision']) &&
    isOrNull(value['desired'], isDesiredEngine) &&
    isCount(value['goodRevision']) &&
    isListOf(value['ours'], isText) &&
    typeof value['takenOver'] === 'boolean' &&
    isOrNull(value['lockedBecause'], isText) &&
    typeof value['startUnfinished'] === 'boolean' &&
    isOrNull(value['masterPid'], isCount)
  )
}

function isDesiredEngine(value: unknown): value is DesiredEngine {
  return (
    isObject(value) &&
    isListOf(value['load'], (program) => isObject(program) && hasTexts(program, 'name', 'sha')) &&
    isListOf(value['labels'], (label) => isObject(label) && hasTexts(label, 'label', 'program')) &&
    isText(value['active'])
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isOrNull(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === null || is(value)
}

function isListOf(value: unknown, is: (member: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(is)
}

function hasTexts(value: Record<string, unknown>, ...keys: readonly string[]): boolean {
  return keys.every((key) => isText(value[key]))
}
