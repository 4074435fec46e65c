/** Names and values, one pair per line. */
import type { ComponentChildren } from 'preact'

/** A pair whose value is null or false is omitted. */
export type Fact = readonly [title: ComponentChildren, value: ComponentChildren]

export function Facts({ of }: { readonly of: readonly Fact[] }) {
  return (
    <dl class="facts">
      {of.map(
        ([title, value], place) =>
          value !== null &&
          value !== false && (
            <div key={place}>
              <dt>{title}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
