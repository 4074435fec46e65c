/**
 * A stage: other sources of a group on separately selected agents, beside the deployed release (docs/behaviour.md, Stages). It
 * is placed on every Running agent that has all of its tags, like a group with one deployment without max.
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

/** The release of a stage; JSON in `stages.sources`, and in the sources of a deploy that stages. */
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

/** Running agents with all of the tags that cannot hold it: unlike for deployments, only drained agents are passed over. */
export function findStageConflicts(input: PlacementInput): readonly StageConflict[] {
  return input.group.deployments
    .flatMap(({ target }) => findFitting(input.agents, target))
    .filter(({ state, draining }) => state === agentStates.Running && draining !== true)
    .flatMap((agent) => {
      const reason = findConflict(input, agent)
      return reason === null ? [] : [{ agentId: agent.id, reason }]
    })
}
