/** The groups that use a file. */
import { Link } from 'wouter-preact'
import type { Group } from '../../../resources/vclgroup.js'
import { StateChip } from '../../parts/state-chip.js'
import { mayRead } from '../../session/rights.js'

export function UsedBy({ users }: { readonly users: readonly Group[] }) {
  if (!mayRead('vclgroup')) return null
  return (
    <section class="panel" aria-labelledby="file-users">
      <h2 id="file-users">Used by</h2>
      {users.length === 0 && <p class="quiet">No group yet. Add it to one to deploy it.</p>}
      {users.length > 0 && (
        <ul class="plain-list">
          {users.map(({ id, name, stateName }) => (
            <li key={id} class="file-user">
              <Link href={`/groups/${id}`}>{name}</Link>
              <StateChip state={stateName} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
