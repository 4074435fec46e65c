/** What an agent must still know after a restart, and how it is read back from text that may be damaged. */
import type { DesiredEngine } from '../vcl/desired-engine.js'
import { nothingSet, type OwnSettings } from '../vcl/settings-plan.js'

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
  /** `cachefleetd rollback` was called on this host: why no coordinator's word counts; the cache is held as desired all the same. */
  readonly rolledBackTo: string | null
  /** The request that was carried out last: one that is found again after a kill is not carried out twice. */
  readonly rollbackId: string | null
  /** The child was to be started and was not seen running yet: it is not stopped on purpose. */
  readonly startUnfinished: boolean
  /** The process that was seen last: another one holds nothing of ours but what its start file loaded. */
  readonly masterPid: number | null
  /** Whose objects the cache may hold (`DesiredEngine.tenancy`); null: nobody's of ours yet. */
  readonly tenancy: string | null
  /** Parameters and backend health that this agent set; others are left alone. */
  readonly settings: OwnSettings
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
  rolledBackTo: null,
  rollbackId: null,
  startUnfinished: false,
  masterPid: null,
  tenancy: null,
  settings: nothingSet,
}

/** Null when the text is not a record, whatever the reason. */
export function parseRecord(text: string): AgentRecord | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  // An earlier version wrote neither settings nor rolledBackTo.
  return isRecord(value) ? { ...emptyRecord, ...value } : null
}

const checks: Readonly<Record<keyof AgentRecord, (value: unknown) => boolean>> = {
  coordinatorId: orNull(isText),
  agentId: orNull(isCount),
  seenCoordinatorId: orNull(isText),
  heldRevision: isCount,
  desired: orNull(isDesiredEngine),
  goodRevision: isCount,
  ours: (value) => isListOf(value, isText),
  takenOver: (value) => typeof value === 'boolean',
  lockedBecause: orNull(isText),
  startUnfinished: (value) => typeof value === 'boolean',
  masterPid: orNull(isCount),
  rolledBackTo: orAbsent(orNull(isText)),
  rollbackId: orAbsent(orNull(isText)),
  tenancy: orAbsent(orNull(isText)),
  settings: orAbsent(isOwnSettings),
}

function isRecord(value: unknown): value is AgentRecord {
  return isObject(value) && Object.entries(checks).every(([name, is]) => is(value[name]))
}

function orNull(is: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => isOrNull(value, is)
}

function isDesiredEngine(value: unknown): value is DesiredEngine {
  return (
    isObject(value) &&
    isListOf(value['load'], (program) => isObject(program) && hasTexts(program, 'name', 'sha')) &&
    isListOf(value['labels'], (label) => isObject(label) && hasTexts(label, 'label', 'program')) &&
    isText(value['active']) &&
    isOrAbsent(value['tenancy'], isText) &&
    isOrAbsent(value['params'], (params) => isListOf(params, isParam)) &&
    isOrAbsent(value['health'], (rules) => isListOf(rules, isHealth))
  )
}

function isParam(value: unknown): boolean {
  return isObject(value) && hasTexts(value, 'name', 'value')
}

function isHealth(value: unknown): boolean {
  return (
    isObject(value) &&
    hasTexts(value, 'backend', 'health') &&
    isOrNull(value['groups'], (groups) => isListOf(groups, isCount))
  )
}

function isOwnSettings(value: unknown): boolean {
  return (
    isObject(value) &&
    isListOf(value['params'], (param) => isParam(param) && isOrNull(shownOf(param), isText)) &&
    isListOf(value['backends'], isText)
  )
}

function shownOf(param: unknown): unknown {
  return isObject(param) ? param['shown'] : undefined
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

function orAbsent(is: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => isOrAbsent(value, is)
}

function isOrAbsent(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === undefined || is(value)
}

function isListOf(value: unknown, is: (member: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(is)
}

function hasTexts(value: Record<string, unknown>, ...keys: readonly string[]): boolean {
  return keys.every((key) => isText(value[key]))
}
