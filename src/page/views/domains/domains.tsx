/** Domains: the host names that groups serve. */
import type { Domain } from '../../../resources/domain.js'
import { useList } from '../../api/list.js'
import { agoColumn, textColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ListView } from '../../parts/list-view.js'
import { readOwner } from '../../parts/owner.js'
import { NewNamed } from '../../parts/named-object.js'
import type { Column } from '../../parts/table.js'
import { mayWrite } from '../../session/rights.js'
import { domainKind } from './domain-kind.js'

export function View() {
  return (
    <ListView
      title="Domains"
      list={useList<Domain>('/domains', { follow: ['domain'] })}
      textOf={({ fqdn }) => fqdn}
      columns={columns}
      ownerOf={readOwner}
      linkOf={({ id }) => `/domains/${id}`}
      sorting={{ title: 'Name', isDescending: false }}
      noun={mayWrite('domain') ? 'domain' : null}
      dialog={({ onClose }) => <NewNamed kind={domainKind} onClose={onClose} />}
      empty={<NoDomains />}
    />
  )
}

const columns: readonly Column<Domain>[] = [
  textColumn('Name', ({ fqdn }) => fqdn),
  {
    title: 'Covers',
    width: '12rem',
    from: 'medium',
    show: ({ fqdn }) => (fqdn.startsWith('*.') ? 'all names below' : 'this name'),
  },
  agoColumn('Created', ({ created }) => created),
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
