/** Certificates that caches with a TLS listener serve; the earliest expiry comes first. */
import type { Certificate } from '../../../resources/certificate.js'
import { useList } from '../../api/list.js'
import { labelsColumn, textColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ListView } from '../../parts/list-view.js'
import { readOwner } from '../../parts/owner.js'
import { StateChip } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { mayWrite } from '../../session/rights.js'
import { judgeDeploy } from './judge-deploy.js'
import { ExpiryCell } from './expiry.js'
import { NewCertificate } from './new-certificate.js'

export function View() {
  return (
    <ListView
      title="Certificates"
      list={useList<Certificate>('/certificates', { follow: ['certificate'] })}
      textOf={({ name, domains }) => [name, ...domains].join('\n')}
      columns={columns}
      ownerOf={readOwner}
      linkOf={({ id }) => `/certificates/${id}`}
      sorting={{ title: 'Expires', isDescending: false }}
      noun={mayWrite('certificate') ? 'certificate' : null}
      dialog={({ onClose }) => <NewCertificate onClose={onClose} />}
      empty={<NoCertificates />}
    />
  )
}

const columns: readonly Column<Certificate>[] = [
  textColumn('Name', ({ name }) => name),
  {
    title: 'Expires',
    width: '14rem',
    show: ({ notAfter }) => <ExpiryCell at={notAfter} />,
    sortBy: ({ notAfter }) => notAfter,
  },
  {
    title: 'State',
    width: '9rem',
    from: 'medium',
    show: (one) => {
      const note = judgeDeploy(one)
      return <StateChip state={note?.words ?? one.stateName} {...(note && { tone: note.tone })} />
    },
    sortBy: (one) => (judgeDeploy(one) === null ? one.state : 0),
  },
  {
    title: 'Caches',
    width: '7rem',
    from: 'medium',
    isEnd: true,
    show: formatShareOfCaches,
    sortBy: ({ agentStates }) => agentStates.length,
  },
  labelsColumn('Domains', ({ domains }) => domains, { from: 'medium' }),
]

/** Caches that are passed over are not counted. */
function formatShareOfCaches({ agentStates }: Certificate): string {
  const meant = agentStates.filter(({ state }) => state !== 'passed')
  const applied = meant.filter(({ state }) => state === 'applied')
  return `${applied.length} of ${meant.length}`
}

function NoCertificates() {
  return (
    <Empty icon="certificate" title="No certificates yet">
      <p>
        For caches with a TLS listener (Varnish 9.0, started with -a :443,https). Create a domain
        for each name in a certificate first.
      </p>
    </Empty>
  )
}
