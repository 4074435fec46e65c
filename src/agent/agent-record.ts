/** What an agent must still know after a restart, and how it is read back from text that may be damaged. */
import { Type } from 'typebox'
import { parseFitting, prepareGuard } from '../mismatch.js'
import { flag, orNull, text, whole, type Fitting } from '../resources/json-fields.js'
import { desiredEngine } from '../vcl/desired-engine.js'
import { nothingSet, ownSettings } from '../vcl/settings-plan.js'

/** An earlier version did not write them. */
const addedLater = Type.Object({
  /** `cachefleetd rollback` was called on this host: why no coordinator's word counts; the cache is held as desired all the same. */
  rolledBackTo: orNull(text),
  /** The request that was carried out last: one that is found again after a kill is not carried out twice. */
  rollbackId: orNull(text),
  /** Whose objects the cache may hold (`DesiredEngine.tenancy`); null: nobody's of ours yet. */
  tenancy: orNull(text),
  /** Parameters and backend health that this agent set; others are left alone. */
  settings: ownSettings,
  /** Its coordinator said so: groups move away from its cache. */
  draining: flag,
  /** Certificates that this agent loaded, as far as is known. */
  certificates: Type.Array(
    Type.Object({
      name: text,
      sha: text,
      state: Type.Enum(['loading', 'committed', 'discarded']),
    }),
  ),
})

const agentRecord = Type.Object({
  /** The coordinator whose word is taken; null before the first enrolment: then nothing is changed on the cache. */
  coordinatorId: orNull(text),
  agentId: orNull(whole(0)),
  /** Who welcomed us last: whom an unlock makes our coordinator. */
  seenCoordinatorId: orNull(text),
  /** The newest revision received, and what it wants; 0 and null before the first. */
  heldRevision: whole(0),
  desired: orNull(desiredEngine),
  /** The newest revision that the cache was seen to satisfy. */
  goodRevision: whole(0),
  /** VCLs and labels that this agent loaded, each written down before it is loaded; all others are unmanaged. */
  ours: Type.Array(text),
  /** The cache was taken over: from then on it is held as desired, the idle VCL included. */
  takenOver: flag,
  lockedBecause: orNull(text),
  /** The child was to be started and was not seen running yet: it is not stopped on purpose. */
  startUnfinished: flag,
  /** The process that was seen last: another one holds nothing of ours but what its start file loaded. */
  masterPid: orNull(whole(0)),
})

export type AgentRecord = Fitting<typeof agentRecord> & Fitting<typeof addedLater>

const isRecord = prepareGuard(
  Type.Object({ ...agentRecord.properties, ...Type.Partial(addedLater).properties }),
)

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
  draining: false,
  certificates: [],
}

/** Null when the text is not a record, whatever the reason. */
export function parseRecord(text: string): AgentRecord | null {
  const record = parseFitting(text, isRecord)
  return record ? { ...emptyRecord, ...record } : null
}

/** The change is none. */
export function isKept(record: AgentRecord, change: Partial<AgentRecord>): boolean {
  return JSON.stringify({ ...record, ...change }) === JSON.stringify(record)
}
