/** The head of a view: its title, chips beside it, and its actions. Also sets the window title. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { Icon } from './icon.js'

export interface ViewHeadProps {
  readonly title: string
  /** Chips and counts beside the title. */
  readonly beside?: ComponentChildren
  /** Buttons. */
  readonly children?: ComponentChildren
  /** For an object: the link back to its list. */
  readonly back?: { readonly href: string; readonly title: string }
}

export function ViewHead({ title, beside, children, back }: ViewHeadProps) {
  useEffect(() => {
    document.title = `${title} – cachefleet`
  }, [title])
  return (
    <header class="view-head">
      <div class="view-head-words">
        {back && (
          <Link href={back.href} class="view-head-back">
            <Icon name="back" />
            {back.title}
          </Link>
        )}
        <h1 class="view-head-title">
          <span class="view-head-name">{title}</span>
          {beside}
        </h1>
      </div>
      {children !== undefined && <div class="view-head-actions">{children}</div>}
    </header>
  )
}
