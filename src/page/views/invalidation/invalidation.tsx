/** One ban or purge: its progress, its result on each cache, and the available actions. */
import { call } from '../../api/call.js'
import { useMutation, type Mutation } from '../../api/mutation.js'
import type { Invalidation } from '../../../resources/invalidation.js'
import { useObject } from '../../api/object.js'
import { Button } from '../../parts/button.js'
import { toast } from '../../parts/toasts.js'
import { LoadStatus } from '../../parts/load-status.js'
import { Owner } from '../../parts/owner.js'
import { useDelete, type Deletion } from '../../parts/use-delete.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
import { InvalidationState } from '../invalidations/invalidation-state.js'
import { formatTitle } from '../invalidations/format-invalidation.js'
import { useProgress } from '../invalidations/use-progress.js'
import { InvalidationFacts } from './invalidation-facts.js'
import { listActions } from './list-actions.js'
import { ResultsTable } from './results-table.js'

export function View({ params }: ViewProps) {
  const id = Number(params['id'])
  const path = `/invalidations/${encodeURIComponent(params['id'] ?? '')}`
  const shown = useObject<Invalidation>(path, { follow: 'invalidation', id })
  const { value, reload } = shown
  useProgress(value?.finished === null, progressMs, reload)
  const mutation = useMutation()
  const deletion = useDelete()
  return (
    <>
      <ViewHead
        title={value ? formatTitle(value) : 'Invalidation'}
        beside={
          value && (
            <>
              <InvalidationState of={value} />
              <Owner of={value} />
            </>
          )
        }
        back={{ href: '/invalidations', title: 'Invalidations' }}
      >
        {value && mayWrite('invalidation') && (
          <InvalidationActions of={value} mutation={mutation} deletion={deletion} reload={reload} />
        )}
      </ViewHead>
      <LoadStatus of={shown} mutation={mutation.error ? mutation : deletion} />
      {value && <InvalidationFacts of={value} />}
      {value && <ResultsTable results={value.results} />}
    </>
  )
}

/** Often enough to show progress. */
const progressMs = 2_000

interface InvalidationActionsProps {
  readonly of: Invalidation
  readonly mutation: Mutation
  readonly deletion: Deletion
  readonly reload: () => void
}

function InvalidationActions({ of, mutation, deletion, reload }: InvalidationActionsProps) {
  const path = `/invalidations/${of.id}`
  const can = listActions(of)
  const retry = (): void => {
    void mutation.run(() => call('PUT', `${path}/retry`), reload)
  }
  const cancel = (): void => {
    void mutation.run(
      () => call('PUT', `${path}/cancel`),
      () => {
        reload()
        toast('Cancelled on the caches that were waiting for it.', { undo: retry })
      },
    )
  }
  const remove = (): Promise<void> =>
    deletion.ask({
      path,
      name: formatTitle(of),
      home: '/invalidations',
      done: `${formatTitle(of)} deleted.`,
      text: 'What it removed stays removed. Its results on each cache are deleted.',
    })
  return (
    <>
      {can.retry && (
        <Button icon="refresh" isBusy={mutation.isBusy} onClick={retry}>
          Retry
        </Button>
      )}
      {can.cancel && (
        <Button icon="close" isBusy={mutation.isBusy} onClick={cancel}>
          Cancel
        </Button>
      )}
      {can.remove && (
        <Button icon="remove" isBusy={deletion.isBusy} onClick={() => void remove()}>
          Delete
        </Button>
      )}
    </>
  )
}
