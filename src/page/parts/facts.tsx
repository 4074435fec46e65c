/** Names and values, one pair a line. */
import type { ComponentChildren } from 'preact'

/** With the value null or false the name is left out too. */
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
