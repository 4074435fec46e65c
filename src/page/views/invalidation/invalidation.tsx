/** One ban or purge: how far it is, what became of it on each cache, and what can be done about it. */
import { useLocation } from 'wouter-preact'
import { call } from '../../api/call.js'
import { useDeed, type Deed } from '../../api/deed.js'
import type { Invalidation } from '../../api/invalidation.js'
import { useObject } from '../../api/object.js'
import { Button } from '../../parts/button.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { toast } from '../../parts/toasts.js'
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
  const { value, error, reload } = useObject<Invalidation>(
    `/invalidations/${encodeURIComponent(params['id'] ?? '')}`,
    { follow: 'invalidation', id },
  )
  useProgress(value?.finished === null, progressMs, reload)
  const deed = useDeed()
  const back = { href: '/invalidations', title: 'Invalidations' }
  if (!value)
    return (
      <>
        <ViewHead title="Invalidation" back={back} />
        {error ? <ErrorNote error={error} onRetry={reload} /> : <Loading />}
      </>
    )
  return (
    <>
      <ViewHead title={sayTitle(value)} beside={<InvalidationState of={value} />} back={back}>
        {mayWrite('invalidation') && <Deeds of={value} deed={deed} reload={reload} />}
      </ViewHead>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {deed.error && <ErrorNote error={deed.error} />}
      <InvalidationFacts of={value} />
      <ResultsTable results={value.results} />
    </>
  )
}

/** Chosen by us: a step that somebody who waits for it sees. */
const progressMs = 2_000

interface DeedsProps {
  readonly of: Invalidation
  readonly deed: Deed
  readonly reload: () => void
}

function Deeds({ of, deed, reload }: DeedsProps) {
  const [, go] = useLocation()
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
  const remove = async (): Promise<void> => {
    const isMeant = await confirmDestruction({
      title: `Delete ${sayTitle(of)}?`,
      text: 'What it removed stays removed; what became of it on each cache is forgotten.',
      verb: 'Delete',
      name: sayTitle(of),
    })
    if (!isMeant) return
    await deed.run(
      () => call('DELETE', path),
      () => {
        toast(`${sayTitle(of)} was deleted.`)
        go('/invalidations')
      },
    )
  }
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
        <Button icon="remove" isBusy={deed.isBusy} onClick={() => void remove()}>
          Delete
        </Button>
      )}
    </>
  )
}
