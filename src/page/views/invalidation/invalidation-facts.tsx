/** An invalidation: content, target, times, warnings, and the number of caches that are done. */
import type { Invalidation } from '../../../resources/invalidation.js'
import { Facts } from '../../parts/facts.js'
import { Time } from '../../parts/time.js'
import { formatTarget } from '../invalidations/format-invalidation.js'

export function InvalidationFacts({ of }: { readonly of: Invalidation }) {
  const { expressions, urls, done, total, warnings, finished } = of
  return (
    <div class="panel">
      <div class="invalidation-progress">
        <progress value={total === 0 ? 1 : done} max={Math.max(1, total)} aria-label="Done" />
        <span>
          {done} of {total} done
        </span>
      </div>
      <pre class="invalidation-content" tabIndex={0} role="region" aria-label="What it removes">
        {[...expressions, ...urls].join('\n')}
      </pre>
      {warnings.length > 0 && (
        <ul class="invalidation-warnings" aria-label="Warnings">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      <Facts
        of={[
          ['Target', formatTarget(of.target)],
          ['Method', of.type === 'purge' && <Method {...of} />],
          ['Created', [<Time at={of.created} />, ` by ${of.account}`]],
          [finished === null ? 'Expires' : 'Ended', <Time at={finished ?? of.expires} />],
        ]}
      />
    </div>
  )
}

function Method({ method, headers }: Pick<Invalidation, 'method' | 'headers'>) {
  return (
    <>
      {method}
      {Object.entries(headers ?? {}).map(([name, value]) => (
        <code key={name} class="invalidation-header">
          {name}: {value}
        </code>
      ))}
    </>
  )
}
