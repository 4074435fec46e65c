/** The button below the first rows of a list that expands and collapses the list. */
import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Button } from '../../parts/button.js'

interface ShowMoreProps {
  readonly isWhole: Signal<boolean>
  /** The number of hidden rows. */
  readonly more: number
  readonly children?: ComponentChildren
}

export function ShowMore({ isWhole, more, children }: ShowMoreProps) {
  return (
    <p class="overview-more">
      <Button
        kind="quiet"
        expanded={isWhole.value}
        onClick={() => {
          isWhole.value = !isWhole.value
        }}
      >
        {isWhole.value ? 'Show fewer' : `Show ${more} more`}
      </Button>
      {children}
    </p>
  )
}
