/** Previews where a group would be placed if it were deployed as it is now. Stores and changes nothing. */
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import type { Deployment } from '../../../resources/deployment.js'
import type { ForeseenPlacements, Group } from '../../../resources/vclgroup.js'
import type { CallError } from '../../api/http.js'
import { useObject } from '../../api/object.js'
import { useIllAgents } from '../../parts/use-ill-agents.js'
import { mayRead, readWho } from '../../session/rights.js'
import { useSettled } from './use-settled.js'

interface Foreseen {
  /** Null: not known yet, or not permitted. */
  readonly value: ForeseenPlacements | null
  readonly error: CallError | null
}

interface PlacementPreview extends Foreseen {
  /** False while loading. */
  readonly isKnown: boolean
  /** The request sent; null: none yet. */
  readonly asked: string | null
}

export function usePlacementPreview(group: Group): PlacementPreview {
  const { agentStates, organization, revision } = group
  const ids = group.deployments.map(({ id }) => id)
  // The API previews only groups of the caller's own organization.
  const isOwn = readWho()?.organization?.id === organization?.id
  const isAsked = isOwn && mayRead('deployment') && ids.length > 0
  const deployments = useObject<readonly Deployment[]>(
    isAsked ? `/deployments?id=${ids.join(',')}` : null,
    // The limits of deployments may be edited meanwhile.
    { follow: 'deployment', concerns: (data) => ids.includes(data.id) },
  )
  useSettled(group, deployments.reload)
  const ill = useIllAgents()
  const body = deployments.value && toPlan(group, deployments.value)
  // Read again when the group or its places change, and when their agents connect or disconnect.
  const places = agentStates.map(({ agent: { id } }) => [id, ill.get(id)])
  const key = body ? JSON.stringify([body, places, revision]) : null
  const answer = useAnswer<Foreseen>(key, nothing, async (signal) => {
    const outcome = await call<Answer>('POST', '/vclgroups/placement', { body, signal })
    return outcome.ok
      ? { value: outcome.value.groups[0] ?? null, error: null }
      : { value: null, error: outcome.error }
  })
  const isAnswered = [answer.value, answer.error, deployments.error].some((one) => one !== null)
  const asked = body && JSON.stringify(body)
  return { ...answer, asked, isKnown: !isAsked || isAnswered }
}

function toPlan({ id, name, domains, releases }: Group, all: readonly Deployment[]): object {
  const deployments = all.map((one) => {
    const { min, max, tags } = one
    return { id: one.id, name: one.name, min, max, tags: tags.map((tag) => ({ id: tag.id })) }
  })
  const fqdns = domains.map(({ fqdn }) => fqdn)
  const wanted = { id, name, domains: fqdns, deployments: all.map((one) => one.name), releases }
  return { groups: [wanted], deployments }
}

interface Answer {
  readonly groups: readonly ForeseenPlacements[]
}

const nothing = { value: null, error: null }
