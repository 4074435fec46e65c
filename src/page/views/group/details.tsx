/** An expandable line; its content is rendered when it is first opened. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Icon } from '../../parts/icon.js'

interface DetailsProps {
  readonly line: ComponentChildren
  /** The initial state. */
  readonly isOpen: boolean
  readonly children: () => ComponentChildren
}

export function Details({ line, isOpen: isOpenAtFirst, children }: DetailsProps) {
  const isOpen = useSignal(isOpenAtFirst)
  return (
    <details
      open={isOpen.value}
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open
      }}
    >
      <summary class="group-file">
        <Icon name="next" />
        {line}
      </summary>
      {isOpen.value && children()}
    </details>
  )
}
