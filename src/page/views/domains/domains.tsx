/** Domains: the names that groups answer for. */
import { useSignal } from '@preact/signals'
import type { Domain } from '../../../resources/domain.js'
import { useList } from '../../api/list.js'
import { agoColumn, nameColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { NewNamed } from '../../parts/named-object.js'
import { NewButton } from '../../parts/new-button.js'
import { ObjectList } from '../../parts/object-list.js'
import type { Column } from '../../parts/table.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { domainKind } from './domain-kind.js'

export function View() {
  const list = useList<Domain>('/domains', { follow: ['domain'] })
  const text = useSearchText()
  const isMaking = useSignal(false)
  const shown = list.rows.filter(({ fqdn }) => fqdn.includes(text))
  const make = (): void => {
    isMaking.value = true
  }
  return (
    <>
      <ViewHead title="Domains">
        {mayWrite('domain') && <NewButton noun="domain" onPress={make} />}
      </ViewHead>
      <ObjectList
        {...{ list, columns, label: 'Domains', rows: shown }}
        linkOf={({ id }) => `/domains/${id}`}
        sorting={{ title: 'Name', isDescending: false }}
      >
        <NoDomains />
      </ObjectList>
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
  nameColumn(({ fqdn }) => fqdn),
  {
    title: 'Covers',
    width: '12rem',
    from: 'medium',
    show: ({ fqdn }) => (fqdn.startsWith('*.') ? 'all names below' : 'this name'),
  },
  agoColumn('Made', ({ created }) => created),
]

function NoDomains() {
  return (
    <Empty icon="domain" title="No domains yet">
      <p>
        A group with domains answers for these names beside other groups on the same caches. A group
        without is alone on its caches and needs none.
      </p>
    </Empty>
  )
}
