/** The sections of one object's view, each with its own path: `/caches/5`, `/caches/5/params`. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'

export interface Section {
  /** The part after a `?` is ignored when the current section is determined. */
  readonly href: string
  readonly title: string
}

export function Sections({
  label,
  items,
}: {
  readonly label: string
  readonly items: readonly Section[]
}) {
  const [path] = useLocation()
  const place = useRef<HTMLElement>(null)
  // On a narrow screen the sections scroll sideways.
  useLayoutEffect(() => {
    const shown = place.current?.querySelector('[aria-current]')
    shown?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [path])
  return (
    <nav class="sections" aria-label={label} ref={place}>
      {items.map(({ href, title }) => (
        <Link
          key={href}
          href={href}
          class="section"
          aria-current={path === href.split('?', 1)[0] ? 'page' : undefined}
        >
          {title}
        </Link>
      ))}
    </nav>
  )
}
