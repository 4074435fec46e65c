/** One ban or purge: how far it is, what became of it on each cache, and what can be done about it. */
import { call } from '../../api/call.js'
import { useDeed, type Deed } from '../../api/deed.js'
import type { Invalidation } from '../../../resources/invalidation.js'
import { useObject } from '../../api/object.js'
import { Button } from '../../parts/button.js'
import { toast } from '../../parts/toasts.js'
import { Troubles } from '../../parts/troubles.js'
import { useDelete, type Deletion } from '../../parts/use-delete.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
import { InvalidationState } from '../invalidations/invalidation-state.js'
import { sayTitle } from '../invalidations/say-invalidation.js'
import { useProgress } from '../invalidations/use-progress.js'
import { InvalidationFacts } from './invalidation-facts.js'
import { listDeeds } from './list-deeds.js'
import { ResultsTable } from './results-table.js'

export function View({ params }: ViewProps) {
  const id = Number(params['id'])
  const path = `/invalidations/${encodeURIComponent(params['id'] ?? '')}`
  const shown = useObject<Invalidation>(path, { follow: 'invalidation', id })
  const { value, reload } = shown
  useProgress(value?.finished === null, progressMs, reload)
  const deed = useDeed()
  const deletion = useDelete()
  return (
    <>
      <ViewHead
        title={value ? sayTitle(value) : 'Invalidation'}
        beside={value && <InvalidationState of={value} />}
        back={{ href: '/invalidations', title: 'Invalidations' }}
      >
        {value && mayWrite('invalidation') && <Deeds of={value} {...{ deed, deletion, reload }} />}
      </ViewHead>
      <Troubles of={shown} deed={deed.error ? deed : deletion} />
      {value && <InvalidationFacts of={value} />}
      {value && <ResultsTable results={value.results} />}
    </>
  )
}

/** Chosen by us: a step that somebody who waits for it sees. */
const progressMs = 2_000

interface DeedsProps {
  readonly of: Invalidation
  readonly deed: Deed
  readonly deletion: Deletion
  readonly reload: () => void
}

function Deeds({ of, deed, deletion, reload }: DeedsProps) {
  const path = `/invalidations/${of.id}`
  const can = listDeeds(of)
  const retry = (): void => {
    void deed.run(() => call('PUT', `${path}/retry`), reload)
  }
  const cancel = (): void => {
    void deed.run(
      () => call('PUT', `${path}/cancel`),
      () => {
        reload()
        toast('Cancelled where it was pending.', { undo: retry })
      },
    )
  }
  const remove = (): Promise<void> =>
    deletion.ask({
      ...{ path, name: sayTitle(of), home: '/invalidations', done: `${sayTitle(of)} was deleted.` },
      text: 'What it removed stays removed; what became of it on each cache is forgotten.',
    })
  return (
    <>
      {can.retry && (
        <Button icon="refresh" isBusy={deed.isBusy} onClick={retry}>
          Retry
        </Button>
      )}
      {can.cancel && (
        <Button icon="close" isBusy={deed.isBusy} onClick={cancel}>
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
