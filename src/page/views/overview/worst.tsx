/** The worst caches and groups: by failed fetches, then by requests not served from the cache. */
import { Link } from 'wouter-preact'
import type { Overview, WorstObject } from '../../../resources/overview.js'
import { formatValue } from '../../charts/format-value.js'

export function Worst({ worst }: { readonly worst: NonNullable<Overview['worst']> }) {
  const { agents, groups } = worst
  return (
    <div class="overview-worst">
      <WorstTable title="Caches that do worst" home="/caches" rows={agents} />
      {groups && <WorstTable title="Groups that do worst" home="/groups" rows={groups} />}
    </div>
  )
}

interface WorstTableProps {
  readonly title: string
  readonly home: string
  readonly rows: readonly WorstObject[]
}

function WorstTable({ title, home, rows }: WorstTableProps) {
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="quiet">None fails fetches or misses much.</p>
      ) : (
        <table class="overview-table">
          <thead>
            <tr>
              <th>Name</th>
              <th>Failed fetches</th>
              <th>Hit ratio</th>
              <th>Requests</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, name, requests, hitRatio, failedFetches }) => (
              <tr key={id}>
                <td>
                  <Link href={`${home}/${id}`}>{name}</Link>
                </td>
                <td class={(failedFetches ?? 0) > 0 ? 'overview-bad' : undefined}>
                  {formatValue('rate', failedFetches)}
                </td>
                <td>{formatValue('share', hitRatio)}</td>
                <td>{formatValue('rate', requests)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
