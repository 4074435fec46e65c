/** Converts placements between records and rows of their table. */
import type { Insertable, Selectable } from 'kysely'
import type { PlacedProgram } from '../../vcl/desired-engine.js'
import { noDeployment } from './placement-input.js'
import type { CandidateState, PlacementRecord } from './placement-queries.js'
import type { PlacementState } from './vcl-group.js'
import type { Tables } from '../store/schema.js'

export type PlacementRow = Selectable<Tables['placements']>

export function toProgram(
  name: string | null,
  sha: string | null,
  fqdns: string | null,
  parse = parseNames,
): PlacedProgram | null {
  if (name === null || sha === null) return null
  return { name, sha, fqdns: fqdns === null ? null : parse(fqdns) }
}

type Names = readonly string[]

function parseNames(text: string): Names {
  return JSON.parse(text) as Names // written by toRow only
}

/** The text of each list of names: it is written for many placements, and may be long. */
const textOfNames = new WeakMap<Names, string>()

/** Lists with the same names are the same object: the placements of a group mostly serve the same. */
export function fromRows(rows: readonly PlacementRow[]): PlacementRecord[] {
  const parsed = new Map<string, Names>()
  const parse = (text: string): Names => {
    const known = parsed.get(text)
    if (known) return known
    const names = parseNames(text)
    parsed.set(text, names)
    textOfNames.set(names, text)
    return names
  }
  return rows.map((row) => fromRow(row, parse))
}

function fqdnsJson(placed: PlacedProgram | null): string | null {
  if (!placed?.fqdns) return null
  const known = textOfNames.get(placed.fqdns)
  if (known !== undefined) return known
  const text = JSON.stringify(placed.fqdns)
  textOfNames.set(placed.fqdns, text)
  return text
}

function fromRow(row: PlacementRow, parse: typeof parseNames): PlacementRecord {
  return {
    groupId: row.groupId,
    agentId: row.agentId,
    organizationId: row.organizationId,
    deploymentId: row.deploymentId ?? noDeployment,
    position: row.position,
    state: row.state as PlacementState, // written by savePlacements and the report recorder only
    wantedRevision: row.wantedRevision,
    appliedRevision: row.appliedRevision,
    current: toProgram(row.currentName, row.currentSha, row.currentFqdns, parse),
    candidate: toProgram(row.candidateName, row.candidateSha, row.candidateFqdns, parse),
    candidateState: row.candidateState as CandidateState | null, // as above
    previous: toProgram(row.previousName, row.previousSha, row.previousFqdns, parse),
    error: row.error,
    deployedAt: row.deployedAt,
    keptDown: row.keptDown === 1,
    stage: row.stage === 1,
    leaving: row.leaving === 1,
    replacedBy: row.replacedBy,
  }
}

const noProgram = { name: null, sha: null }

export function toRow(placement: PlacementRecord): Insertable<Tables['placements']> {
  const current = placement.current ?? noProgram
  const candidate = placement.candidate ?? noProgram
  const previous = placement.previous ?? noProgram
  return {
    groupId: placement.groupId,
    agentId: placement.agentId,
    organizationId: placement.organizationId,
    deploymentId: placement.deploymentId === noDeployment ? null : placement.deploymentId,
    position: placement.position,
    state: placement.state,
    wantedRevision: placement.wantedRevision,
    appliedRevision: placement.appliedRevision,
    currentName: current.name,
    currentSha: current.sha,
    candidateName: candidate.name,
    candidateSha: candidate.sha,
    candidateState: placement.candidateState,
    previousName: previous.name,
    previousSha: previous.sha,
    currentFqdns: fqdnsJson(placement.current),
    candidateFqdns: fqdnsJson(placement.candidate),
    previousFqdns: fqdnsJson(placement.previous),
    error: placement.error,
    deployedAt: placement.deployedAt,
    keptDown: placement.keptDown ? 1 : 0,
    stage: placement.stage ? 1 : 0,
    leaving: placement.leaving ? 1 : 0,
    replacedBy: placement.replacedBy,
  }
}
