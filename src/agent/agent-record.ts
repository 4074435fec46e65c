/** What an agent must remember across restarts, and how it is parsed from a file that may be damaged. */
import { Type } from 'typebox'
import { parseFitting, prepareGuard } from '../mismatch.js'
import { flag, orNull, text, whole, type Fitting } from '../resources/json-fields.js'
import { desiredEngine } from '../vcl/desired-engine.js'
import { nothingSet, ownSettings } from '../vcl/settings-plan.js'

/** Fields that earlier versions did not write. */
const addedLater = Type.Object({
  /** After `cachefleetd rollback` on this host: why the agent obeys no coordinator; it still keeps the cache as desired. */
  rolledBackTo: orNull(text),
  /** The request that was carried out last: if it is found again after a kill, it is not repeated. */
  rollbackId: orNull(text),
  /** Tenancy of the objects that the cache may hold (`DesiredEngine.tenancy`); null: no tenancy of ours yet. */
  tenancy: orNull(text),
  /** Parameters and backend health that this agent set; others are left alone. */
  settings: ownSettings,
  /** The coordinator drains this agent: groups move away from its cache. */
  draining: flag,
  /** Certificates that this agent loaded, as far as it knows. */
  certificates: Type.Array(
    Type.Object({
      name: text,
      sha: text,
      state: Type.Enum(['loading', 'committed', 'discarded']),
    }),
  ),
})

const agentRecord = Type.Object({
  /** The coordinator that the agent obeys; null before the first enrolment: until then the cache is not changed. */
  coordinatorId: orNull(text),
  agentId: orNull(whole(0)),
  /** The coordinator that sent the last welcome; an unlock makes it the agent's own. */
  seenCoordinatorId: orNull(text),
  /** The newest revision received, and its desired state; 0 and null before the first. */
  heldRevision: whole(0),
  desired: orNull(desiredEngine),
  /** The newest revision that the cache was seen to satisfy. */
  goodRevision: whole(0),
  /** VCLs and labels that this agent loaded, each saved before it is loaded; all others are unmanaged. */
  ours: Type.Array(text),
  /** The cache was taken over: from then on it is kept as desired, including the idle VCL. */
  takenOver: flag,
  lockedBecause: orNull(text),
  /** The child was to be started and has not been seen running: it is not stopped on purpose. */
  startUnfinished: flag,
  /** The cache's last known process: a new one holds only managed VCL that its start file loaded. */
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

/** Null when the text is not a valid record, for any reason. */
export function parseRecord(text: string): AgentRecord | null {
  const record = parseFitting(text, isRecord)
  return record ? { ...emptyRecord, ...record } : null
}

/** True when the change would alter nothing. */
export function isKept(record: AgentRecord, change: Partial<AgentRecord>): boolean {
  return JSON.stringify({ ...record, ...change }) === JSON.stringify(record)
}
