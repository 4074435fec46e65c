/** Shown when a list is empty, with a suggestion what to do next. */
import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.js'

interface EmptyProps {
  readonly icon: IconName
  readonly title: string
  /** The suggestion. */
  readonly children?: ComponentChildren
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="empty-next">{children}</div>}
    </div>
  )
}
