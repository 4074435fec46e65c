/**
 * The problems of objects placed on caches: a group, a deployment, a stage. Pure: from its state and its places
 * (docs/behaviour.md, Problems and Group state).
 */
import { agentStateName, agentStates, type AgentState } from '../../resources/agent-state.js'
import { deploymentStates } from '../../resources/deployment.js'
import type { ConcernedObject } from '../../resources/problem.js'
import type { DeploymentState } from '../fleet/deployment.js'
import type { FailedDeploy } from '../fleet/history-queries.js'
import { isAgentInTrouble, type PlacementState } from '../fleet/vcl-group.js'
import type { NamedReference } from '../store/owner.js'
import { countCaches, quoteText, toConcerned, type Finding } from './make-problem.js'

export interface JudgedPlace {
  readonly agentId: number
  readonly agentName: string
  readonly agentState: AgentState
  /** When the agent entered this state. */
  readonly agentSince: number
  readonly deploymentId: number
  readonly state: PlacementState
  readonly error: string | null
}

export interface JudgedPlaces {
  readonly state: DeploymentState
  readonly deployments: readonly {
    readonly id: number
    /** Null: its caches are listed directly. */
    readonly name: string | null
    readonly min: number
  }[]
  readonly places: readonly JudgedPlace[]
  /** For a group that is not deployed: why its newest deploy failed; null: it did not fail. */
  readonly failedDeploy: FailedDeploy | null
}

const { Degraded, Error, Orphan, Deploying, Inactive } = deploymentStates

/** `groupName`: the group to name in the rollback command; null: no command is shown. */
export function findPlaceProblems(judged: JudgedPlaces, groupName: string | null): Finding[] {
  const { state, failedDeploy } = judged
  if (state === Inactive) return failedDeploy === null ? [] : [toFailedDeploy(failedDeploy)]
  if (state === Orphan) return [toNoAgentFits(judged)]
  if (state !== Degraded && state !== Error && state !== Deploying) return []
  const wanted = new Set(judged.deployments.map(({ id }) => id))
  const places = judged.places.filter(({ deploymentId }) => wanted.has(deploymentId))
  return [
    ...(state === Error ? [toBelowMin(judged, places)] : []),
    ...findRefused(state === Deploying ? [] : places, {
      again: 'deploy it again',
      back:
        groupName === null
          ? 'go back to what served before'
          : `\`vclgroups rollback ${groupName}\``,
      rest: '. A reload tries these caches once more',
    }),
    ...findWaiting(places),
  ]
}

/** The problems of a stage; it has no min. */
export function findStageProblems(places: readonly JudgedPlace[], groupName: string): Finding[] {
  const remedy = { again: 'stage it again', back: `\`vclgroups delstage ${groupName}\``, rest: '' }
  return [...findRefused(places, remedy), ...findWaiting(places)]
}

function toFailedDeploy({ at, result }: FailedDeploy): Finding {
  return {
    code: 'load-failed',
    message: `It is not deployed: the last deploy failed: ${quoteText(result)}`,
    sinceMs: at,
    remedy: 'Correct what it names, and deploy it again',
  }
}

function toNoAgentFits({ deployments }: JudgedPlaces): Finding {
  return {
    code: 'no-agent-fits',
    message: 'It is to be deployed, and no cache fits',
    sinceMs: null,
    objects: nameDeployments(deployments),
    remedy:
      'Give caches all tags of a deployment, or the deployment tags that caches have; it is deployed as soon as one fits',
  }
}

function toBelowMin({ deployments }: JudgedPlaces, places: readonly JudgedPlace[]): Finding {
  const counted = deployments.map((deployment) => ({
    ...deployment,
    serving: places.filter((place) => place.deploymentId === deployment.id && isServing(place))
      .length,
  }))
  const short = counted.filter(({ serving, min }) => serving < min)
  const serving = short.reduce((sum, one) => sum + one.serving, 0)
  const min = short.reduce((sum, one) => sum + one.min, 0)
  const shortIds = new Set(short.map(({ id }) => id))
  const ill = places.filter((place) => shortIds.has(place.deploymentId) && !isServing(place))
  return {
    code: 'below-min',
    message: `${serving} of at least ${countCaches(min)} ${serving === 1 ? 'serves' : 'serve'} it`,
    sinceMs: null,
    objects: [...nameDeployments(short), ...nameAgents(ill)],
    remedy: 'Bring its caches back, give more of them the tags of the deployment, or lower its min',
  }
}

/** Places that caches refused, except on agents that are in trouble. */
function findRefused(
  places: readonly JudgedPlace[],
  { again, back, rest }: Readonly<Record<'again' | 'back' | 'rest', string>>,
): Finding[] {
  const refused = places.filter(
    ({ state, agentState }) => state === 'failed' && !isAgentInTrouble(agentState),
  )
  if (refused.length === 0) return []
  const error = refused.find((place) => place.error !== null)?.error ?? null
  return [
    {
      code: 'load-failed',
      message: `${countCaches(refused.length)} refused it${error === null ? '' : `: ${quoteText(error)}`}`,
      sinceMs: null,
      objects: nameAgents(refused),
      remedy: `Correct the VCL and ${again}, or ${back}${rest}`,
    },
  ]
}

/** Places kept for agents in trouble, which can be neither observed nor changed now. */
function findWaiting(places: readonly JudgedPlace[]): Finding[] {
  const waiting = places.filter(({ agentState }) => isAgentInTrouble(agentState))
  if (waiting.length === 0) return []
  const states = [agentStates.Down, agentStates.Failing, agentStates.Locked]
  const counts = states.flatMap((state) => {
    const count = waiting.filter(({ agentState }) => agentState === state).length
    return count === 0
      ? []
      : `${countCaches(count)} that ${count === 1 ? 'is' : 'are'} ${agentStateName(state)}`
  })
  return [
    {
      code: 'place-waiting',
      message: `Waiting for ${counts.join(', ')}`,
      sinceMs: Math.min(...waiting.map(({ agentSince }) => agentSince)),
      objects: nameAgents(waiting),
      remedy:
        'Mend these caches; what each misses is done when it is back. A host that is gone: `agents delete`, and another that fits takes its place',
    },
  ]
}

function isServing({ state, agentState }: JudgedPlace): boolean {
  return state === 'applied' && !isAgentInTrouble(agentState)
}

function nameAgents(places: readonly JudgedPlace[]): ConcernedObject[] {
  return places.map(({ agentId: id, agentName: name }) => toConcerned('agent', { id, name }))
}

function nameDeployments(deployments: JudgedPlaces['deployments']): ConcernedObject[] {
  const named = deployments.flatMap(({ id, name }): NamedReference[] =>
    name === null ? [] : [{ id, name }],
  )
  return named.map((deployment) => toConcerned('deployment', deployment))
}

/** The problems of a deployment: those of its groups, each code once. */
export function joinFindings(ofGroups: readonly (readonly Finding[])[]): Finding[] {
  const joined = new Map<string, Finding>()
  const more = new Map<string, number>()
  for (const finding of ofGroups.flat()) {
    const { code, sinceMs } = finding
    const first = joined.get(code)
    if (!first) {
      joined.set(code, finding)
      continue
    }
    more.set(code, (more.get(code) ?? 0) + 1)
    joined.set(code, {
      ...first,
      sinceMs: first.sinceMs === null || sinceMs === null ? null : Math.min(first.sinceMs, sinceMs),
      objects: joinObjects(first.objects ?? [], finding.objects ?? []),
    })
  }
  return [...joined.values()].map((finding) => {
    const count = more.get(finding.code) ?? 0
    if (count === 0) return finding
    return { ...finding, message: `${finding.message}; and ${count} more of its groups` }
  })
}

function joinObjects(
  first: readonly ConcernedObject[],
  added: readonly ConcernedObject[],
): readonly ConcernedObject[] {
  const all = [...first, ...added]
  return [...new Map(all.map((object) => [`${object.type} ${object.id}`, object])).values()]
}
