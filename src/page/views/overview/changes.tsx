/** The latest changes in words, with their authors. */
import { useSignal } from '@preact/signals'
import { Link } from 'wouter-preact'
import type { OverviewChange } from '../../../resources/overview.js'
import { Time } from '../../parts/time.js'
import { locateObject } from './locate-object.js'
import { ShowMore } from './show-more.js'
import { splitAtName } from './split-at-name.js'

const firstShown = 12

export function Changes({ changes }: { readonly changes: readonly OverviewChange[] }) {
  const isWhole = useSignal(false)
  const shown = isWhole.value ? changes : changes.slice(0, firstShown)
  return (
    <section class="panel overview-changes" aria-label="Recent changes">
      <h2>Recent changes</h2>
      {changes.length === 0 && <p class="quiet">Nothing was changed lately.</p>}
      <ol class="plain-list">
        {shown.map((change, at) => (
          <li key={`${change.at} ${at}`} class="overview-change">
            <p>
              <b>{change.account}</b> <Words change={change} />
            </p>
            <span class="quiet">
              <Time at={change.at} isAgo />
            </span>
          </li>
        ))}
      </ol>
      {changes.length > firstShown && (
        <ShowMore isWhole={isWhole} more={changes.length - firstShown} />
      )}
    </section>
  )
}

/** The object's name in the text is a link to the object. */
function Words({ change: { text, object } }: { readonly change: OverviewChange }) {
  const place = object && locateObject(object)
  const parts = object && splitAtName(text, object.name)
  if (!place || !parts) return <>{text}</>
  return (
    <>
      {parts.before}
      <Link href={place.href}>{object.name}</Link>
      {parts.after}
    </>
  )
}
