/** Asks where a group would be placed if it were deployed as it is now. Nothing is kept or changed by that. */
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import type { Deployment } from '../../../resources/deployment.js'
import type { ForeseenPlacements, Group } from '../../../resources/vclgroup.js'
import type { CallError } from '../../api/http.js'
import { useObject } from '../../api/object.js'
import { mayRead, readWho } from '../../session/rights.js'
import { useSettled } from './use-settled.js'

interface PlacementPreview {
  /** Null: not known yet, or not allowed. */
  readonly value: ForeseenPlacements | null
  readonly error: CallError | null
}

export function usePlacementPreview(group: Group): PlacementPreview {
  const { id, name, domains, releases, organization } = group
  const ids = group.deployments.map((one) => one.id)
  // The API answers for groups of the caller's own organization only.
  const isOwn = readWho()?.organization?.id === organization?.id
  const isAsked = isOwn && mayRead('deployment') && ids.length > 0
  const deployments = useObject<readonly Deployment[]>(
    isAsked ? `/deployments?id=${ids.join(',')}` : null,
  )
  useSettled(group, deployments.reload)
  const fields = deployments.value?.map((one) => {
    const { min, max, tags } = one
    return { id: one.id, name: one.name, min, max, tags: tags.map((tag) => ({ id: tag.id })) }
  })
  const body = fields && {
    groups: [
      {
        id,
        name,
        domains: domains.map(({ fqdn }) => fqdn),
        deployments: fields.map((one) => one.name),
        releases,
      },
    ],
    deployments: fields,
  }
  // Read again when any of it changed, and when places did.
  const places = group.agentStates.map(({ agent }) => agent.id)
  const key = body ? JSON.stringify([body, places, group.revision]) : null
  return useAnswer(key, nothing, async (signal) => {
    const outcome = await call<Answer>('POST', '/vclgroups/placement', { body, signal })
    return outcome.ok
      ? { value: outcome.value.groups[0] ?? null, error: null }
      : { value: null, error: outcome.error }
  })
}

interface Answer {
  readonly groups: readonly ForeseenPlacements[]
}

const nothing: PlacementPreview = { value: null, error: null }
