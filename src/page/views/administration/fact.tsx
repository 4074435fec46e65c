/** A name and a value, in `dl.facts`. */
import type { ComponentChildren } from 'preact'

export interface FactProps {
  readonly title: string
  readonly children: ComponentChildren
}

export function Fact({ title, children }: FactProps) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}
