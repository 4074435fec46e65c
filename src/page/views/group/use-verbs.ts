/** Runs actions on a group (`PUT /vclgroups/{id}/…`), one at a time, and tracks the current one. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { useMutation, type Mutation } from '../../api/mutation.js'
import { readRolloutId, type Outcome } from '../../api/http.js'
import type { Group } from '../../../resources/vclgroup.js'
import { toast } from '../../parts/toasts.js'
import { offerAbort } from './rollout/offer-abort.js'

type VerbName = 'deploy' | 'undeploy' | 'reload' | 'rollback' | 'promote' | 'stage' | 'delstage'

interface VerbRequest {
  readonly name: VerbName
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Message shown on success. */
  readonly done: string
}

export interface Verbs extends Omit<Mutation, 'run'> {
  /** What the last action did not do. */
  readonly warnings: readonly string[]
  /** The running action, else the last one. */
  readonly last: { readonly name: VerbName; readonly revisionBefore: number } | null
  readonly act: (group: Group, request: VerbRequest) => void
  readonly rollBack: (group: Group, revision: number | null) => void
}

export function useVerbs(reload: () => void): Verbs {
  const mutation = useMutation()
  const last = useSignal<Verbs['last']>(null)
  const warnings = useSignal<readonly string[]>([])
  const act = (group: Group, { name, query = {}, body, done }: VerbRequest): void => {
    if (mutation.isBusy) return
    last.value = { name, revisionBefore: group.revision }
    warnings.value = []
    let isLeft = false
    const ask = (asked: NonNullable<VerbRequest['query']>): Promise<Outcome<Done>> => {
      const words = new URLSearchParams(asked).toString()
      const path = `/vclgroups/${group.id}/${name}${words === '' ? '' : `?${words}`}`
      return call<Done>('PUT', path, body === undefined ? {} : { body })
    }
    const work = mutation.run(
      async () => {
        const outcome = await ask(query)
        if (outcome.ok) return outcome
        const isAborted = await offerAbort(outcome.error)
        if (isAborted === true) return ask({ ...query, abort: 'true' })
        isLeft = isAborted === false
        return outcome.error.status === 503 ? readPending(group, outcome) : outcome
      },
      (after) => {
        warnings.value = after.warnings ?? []
        toast(isGoingOn(after, group) ? 'It continues in the background.' : done)
      },
    )
    void work.then(() => {
      // A user who left an action this way knows the reason.
      if (isLeft) mutation.forget()
      // A refusal is also recorded in the group and its history.
      reload()
    })
  }
  const rollBack = (group: Group, revision: number | null): void => {
    const done = `${group.name} rolled back to revision ${revision ?? ''}.`
    act(group, { name: 'rollback', body: { revision }, done })
  }
  const { isBusy, error, forget } = mutation
  return { isBusy, error, forget, last: last.value, warnings: warnings.value, act, rollBack }
}

type Done = Group & { readonly warnings?: readonly string[] }

/** A deploy that matches too few caches is refused, but stays pending until enough match. */
async function readPending<Refused>(
  { id }: Group,
  refused: Refused,
): Promise<Outcome<Done> | Refused> {
  const now = await call<Group>('GET', `/vclgroups/${id}`)
  return now.ok && now.value.wish?.pending === true ? now : refused
}

/** True if the deploy continues after the wait for it ended. */
function isGoingOn(after: Group, { revision }: Group): boolean {
  const { stateName, wish } = after
  const isRolledOut = readRolloutId(after) !== null && after.revision === revision
  return stateName === 'Deploying' || wish?.pending === true || isRolledOut
}
