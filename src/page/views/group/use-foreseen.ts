/** Asks where a group would be placed if it were deployed as it is now. Nothing is kept or changed by that. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call } from '../../api/call.js'
import type { Deployment } from '../../../resources/deployment.js'
import type { ForeseenPlaces, Group } from '../../../resources/vclgroup.js'
import type { CallError } from '../../api/http.js'
import { useObject } from '../../api/object.js'
import { mayRead, readWho } from '../../session/rights.js'
import { useSettled } from './use-settled.js'

interface Foreseen {
  /** Null: not known yet, or it may not be asked. */
  readonly value: ForeseenPlaces | null
  readonly error: CallError | null
}

export function useForeseen(group: Group): Foreseen {
  const state = useSignal<Foreseen>(nothing)
  const { id, name, domains, organization } = group
  const ids = group.deployments.map((one) => one.id)
  // The API foresees for the groups of the caller's own organization.
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
        ...{ id, name, domains: domains.map(({ fqdn }) => fqdn) },
        deployments: fields.map((one) => one.name),
      },
    ],
    deployments: fields,
  }
  // Asked anew when any of it changed, and when places did.
  const places = group.agentStates.map(({ agent }) => agent.id)
  const key = JSON.stringify([body, places, group.revision])

  useEffect(() => {
    if (!body) {
      state.value = nothing
      return
    }
    const abort = new AbortController()
    const { signal } = abort
    void call<{ readonly groups: readonly ForeseenPlaces[] }>('POST', '/vclgroups/placement', {
      ...{ body, signal },
    }).then((outcome) => {
      if (signal.aborted) return
      state.value = outcome.ok
        ? { value: outcome.value.groups[0] ?? null, error: null }
        : { value: null, error: outcome.error }
    })
    return () => {
      abort.abort()
    }
  }, [key])

  return state.value
}

const nothing: Foreseen = { value: null, error: null }
