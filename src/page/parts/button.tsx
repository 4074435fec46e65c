/** Buttons, and links styled as buttons. */
import type { ComponentChildren } from 'preact'
import { Link } from 'wouter-preact'
import { Icon, type IconName } from './icon.js'

interface ButtonProps {
  readonly children?: ComponentChildren
  /** `main`: the primary action, once per view; `danger`: destroys something; `quiet`: no border. */
  readonly kind?: 'main' | 'danger' | 'plain' | 'quiet'
  readonly icon?: IconName
  /** Accessible name of a button that has only an icon. */
  readonly label?: string
  readonly type?: 'button' | 'submit'
  readonly disabled?: boolean
  /** Its call is in progress: the button keeps the focus, and a second press must do nothing. */
  readonly isBusy?: boolean
  readonly expanded?: boolean
  readonly onClick?: () => void
}

export function Button(props: ButtonProps) {
  const { children, kind = 'plain', icon, label, type = 'button', disabled, expanded } = props
  return (
    <button
      class={classOf(kind, children === undefined)}
      type={type}
      disabled={disabled}
      aria-label={label}
      aria-expanded={expanded}
      aria-disabled={props.isBusy === true ? true : undefined}
      title={label}
      onClick={props.onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

export function LinkButton(
  props: Pick<ButtonProps, 'children' | 'kind' | 'icon'> & { href: string },
) {
  const { children, kind = 'plain', icon, href } = props
  return (
    <Link href={href} class={classOf(kind, false)}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  )
}

function classOf(kind: string, isBare: boolean): string {
  return `button button-${kind}${isBare ? ' button-bare' : ''}`
}
