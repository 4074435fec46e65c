/** Where groups would be placed, as previewed by the coordinator before anything is changed. */
import { keyOf } from './apply-objects.js'
import type { ApplyPlan } from './apply-plan.js'
import type { Api } from '../api.js'
import { nameOf, requireFields, requireList, type Fields } from '../api-shapes.js'
import { listOf, type Sides } from './bodies.js'

export interface PlannedPlace {
  readonly agentId: number
  readonly agentName: string
  /** Null: the group leaves the agent. */
  readonly deployment: string | null
  readonly held: boolean
  /** The agent is absent; the placement waits for it. */
  readonly isWaiting: boolean
}

export interface PlacementPreview {
  readonly group: string
  readonly places: readonly PlannedPlace[]
  readonly shortage: string | null
}

/** For the groups that would be deployed, in deploy order. */
export async function previewPlacement(
  api: Api,
  { steps }: ApplyPlan,
  sides: Sides,
): Promise<readonly PlacementPreview[]> {
  const groups = steps
    .filter(({ action }) => action === 'deploy')
    .flatMap(({ name }) => sides.wanted.get(keyOf({ kind: 'vclgroup', name })) ?? [])
  if (groups.length === 0) return []
  const names = new Set(groups.flatMap(({ fields }) => listOf(fields['deployments'])))
  const leaving = steps.flatMap((step) => (step.action === 'undeploy' ? [{ id: step.id }] : []))
  const { body } = await api.call({
    method: 'POST',
    path: '/vclgroups/placement',
    body: {
      groups: groups.map(({ name, fields }) => ({
        ...withId(sides.ids.find('vclgroup', name)),
        name,
        domains: fields['domains'],
        deployments: fields['deployments'],
        releases: fields['releases'],
      })),
      deployments: [...names].map((name) => toPlannedDeployment(sides, name)),
      undeployed: leaving,
    },
  })
  return requireList(requireFields(body)['groups']).map(readPreview)
}

function toPlannedDeployment({ wanted, present, ids }: Sides, name: string): Fields {
  const key = keyOf({ kind: 'deployment', name })
  const fields = (wanted.get(key) ?? present.get(key))?.fields ?? {}
  return {
    ...withId(ids.find('deployment', name)),
    name,
    min: fields['min'],
    max: fields['max'],
    tags: listOf(fields['tags']).map((tag) => ({ ...withId(ids.find('tag', tag)), name: tag })),
  }
}

function withId(id: number | undefined): Fields {
  return id === undefined ? {} : { id }
}

function readPreview(group: Fields): PlacementPreview {
  const { shortage } = group
  return {
    group: nameOf(group) ?? '',
    places: requireList(group['agents']).map(({ agent, deployment, held, waiting }) => ({
      agentId: Number(requireFields(agent)['id']),
      agentName: nameOf(agent) ?? '',
      deployment: typeof deployment === 'string' ? deployment : null,
      held: held === true,
      isWaiting: waiting === true,
    })),
    shortage: typeof shortage === 'string' ? shortage : null,
  }
}
