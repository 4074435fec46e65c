/** Domains: the names that groups answer for. */
import { useSignal } from '@preact/signals'
import type { Domain } from '../../api/domain.js'
import { useList } from '../../api/list.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { NewNamed } from '../../parts/named-object.js'
import { NewButton } from '../../parts/new-button.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { domainKind } from './domain-kind.js'

export function View() {
  const { rows, phase, error, reload } = useList<Domain>('/domains')
  const text = useSearchText()
  const isMaking = useSignal(false)
  const shown = rows.filter(({ fqdn }) => fqdn.includes(text))
  const make = (): void => {
    isMaking.value = true
  }
  return (
    <>
      <ViewHead title="Domains">
        {mayWrite('domain') && <NewButton noun="domain" onPress={make} />}
      </ViewHead>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'loading' && <Loading />}
      {shown.length > 0 && (
        <Table
          label="Domains"
          rows={shown}
          columns={columns}
          linkOf={({ id }) => `/domains/${id}`}
          sorting={{ title: 'Name', isDescending: false }}
          fills
        />
      )}
      {phase === 'ready' && !error && shown.length === 0 && (
        <NoDomains isEmpty={rows.length === 0} />
      )}
      {isMaking.value && (
        <NewNamed
          kind={domainKind}
          onClose={() => {
            isMaking.value = false
          }}
        />
      )}
    </>
  )
}

const columns: readonly Column<Domain>[] = [
  { title: 'Name', show: ({ fqdn }) => fqdn, sortBy: ({ fqdn }) => fqdn },
  {
    title: 'Covers',
    width: '12rem',
    from: 'medium',
    show: ({ fqdn }) => (fqdn.startsWith('*.') ? 'all names below' : 'this name'),
  },
  {
    title: 'Made',
    width: '9.5rem',
    show: ({ created }) => <Time at={created} isAgo />,
    sortBy: ({ created }) => created,
  },
]

function NoDomains({ isEmpty }: { readonly isEmpty: boolean }) {
  if (!isEmpty) return <Empty icon="search" title="No domain fits this search" />
  return (
    <Empty icon="domain" title="No domains yet">
      <p>
        A group with domains answers for these names beside other groups on the same caches. A group
        without is alone on its caches and needs none.
      </p>
    </Empty>
  )
}
