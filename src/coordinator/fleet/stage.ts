/**
 * A stage: other sources of a group on agents of their own choice, beside what is deployed (docs/behaviour.md, Stages). It goes
 * to every Running agent that has all of its tags, so it is placed like a group with one deployment that has no max.
 */
import { agentStates } from '../../resources/agent-state.js'
import { findConflict } from './placement-conflict.js'
import {
  placeEverywhere,
  type PlacementDeployment,
  type PlacementInput,
} from './placement-input.js'
import { findFitting } from './placement-target.js'
import type { StageTarget, Release } from './vcl-group.js'

/** What a stage puts on caches; JSON in `stages.sources`, and as sources of a deploy that stages. */
export interface StagedSources extends Release {
  readonly stage: StageTarget
}

export function isStaged(sources: Release): sources is StagedSources {
  return sources.stage !== undefined
}

export function stageDeployment(tagIds: readonly number[]): PlacementDeployment {
  return placeEverywhere({ kind: 'tags', tagIds })
}

interface StageConflict {
  readonly agentId: number
  readonly reason: string
}

/** The Running agents with all of the tags that cannot hold it: of them only drained ones are passed over, unlike a deployment's. */
export function findStageConflicts(input: PlacementInput): readonly StageConflict[] {
  return input.group.deployments
    .flatMap(({ target }) => findFitting(input.agents, target))
    .filter(({ state, draining }) => state === agentStates.Running && draining !== true)
    .flatMap((agent) => {
      const reason = findConflict(input, agent)
      return reason === null ? [] : [{ agentId: agent.id, reason }]
    })
}
