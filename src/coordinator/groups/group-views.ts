/** VCL groups as the API returns them: one schema and one function for each shape. */
import { Type } from 'typebox'
import { placementState } from '../../resources/deployment.js'
import {
  agentRouting,
  historyEntry,
  placementReason,
  vclGroup,
  type Place,
} from '../../resources/vclgroup.js'
import { answerMaker } from '../api/resource-answers.js'
import { answerSchema } from '../api/resource-schemas.js'
import { toIso } from '../api/times.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import type { HistoryEntry } from '../fleet/history-queries.js'
import type { GroupAgentState } from '../placement/group-state.js'
import type { GroupView } from './groups.js'

export const groupSchema = answerSchema(vclGroup.fields)
export const groupStateSchema = answerSchema(placementState)
export const placementSchema = answerSchema(placementReason)
export const routingSchema = Type.Object(
  { agents: Type.Array(answerSchema(agentRouting)) },
  { additionalProperties: false },
)
export const historySchema = answerSchema(historyEntry)

const makeAnswer = answerMaker(vclGroup.fields)

/** The editable fields, as the API returns them. */
export function toGroupFields(group: GroupRecord) {
  const { name, root, keepOnFailure, includes, tests, domains, deployments, releases } = group
  const { rollout, managedBy, mainFile, mainFileVersion: version, requireTests } = group
  const mainVCL = mainFile === null || version === null ? mainFile : { ...mainFile, version }
  const files = { mainVCL, includes, tests, requireTests }
  return { name, root, keepOnFailure, ...files, domains, deployments, releases, rollout, managedBy }
}

export function toGroupView({ group, status, problems, staged }: GroupView) {
  return makeAnswer(group, {
    ...toGroupFields(group),
    deployed: group.deployed || group.deploying,
    state: status.state,
    problems,
    stateName: status.stateName,
    agentStates: status.agentStates.map(toPlaceView),
    staged: staged && { ...staged, agentStates: staged.agentStates.map(toPlaceView) },
    wish: toReleaseView(group),
  })
}

function toPlaceView(place: GroupAgentState): Place {
  return { ...place, deployedAt: place.deployedAt === null ? null : toIso(place.deployedAt) }
}

function toReleaseView({ desiredRelease, deployPending }: GroupRecord) {
  if (desiredRelease === null) return null
  const { mainVCL, includes, domains, deploymentIds, releases } = desiredRelease
  const deployments = deploymentIds.map((id) => ({ id }))
  return { mainVCL, includes, domains, deployments, releases, pending: deployPending }
}

export function toHistoryView(entry: HistoryEntry) {
  return {
    revision: entry.revision,
    at: toIso(entry.at),
    account: entry.account,
    action: entry.action,
    result: entry.result,
    mainVCL: entry.sources.mainVCL,
    includes: entry.sources.includes,
    replaced: entry.replaced ?? [],
    replacedBy: entry.replacedBy ?? null,
  }
}
