/** The icons: lines on a 20 by 20 grid in the text colour. Decorative: the words beside them mean the same. */

const paths = {
  overview: 'M3 3h6v8H3zM11 3h6v4h-6zM11 9h6v8h-6zM3 13h6v4H3z',
  cache: 'M3 4h14v4H3zM3 12h14v4H3zM6 6h.01M6 14h.01',
  group: 'M10 3 3 6.5 10 10l7-3.5zM3 10l7 3.5 7-3.5M3 13.5 10 17l7-3.5',
  file: 'M5 2.5h6.5L15.5 6.5v11H5zM11 2.5v4.5h4.5M8 11h5M8 14h5',
  domain:
    'M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15zM2.5 10h15M10 2.5c5 5 5 10 0 15-5-5-5-10 0-15z',
  certificate: 'M4.5 9h11v8h-11zM7 9V6.5a3 3 0 0 1 6 0V9M10 12v2',
  deployment: 'M10 17V8M6.5 11.5 10 8l3.5 3.5M4 3h12v2.5H4z',
  backend: 'M3 3h14v5H3zM10 8v4M4.5 12h11M4.5 12v5M10 12v5M15.5 12v5M6 5.5h.01',
  tag: 'M3 3h6.5l7.5 7.5L10.5 17 3 9.5zM6.5 6.5h.01',
  invalidation: 'M4 5.5h12M8 5.5V3.5h4v2M6 5.5 6.800 17h6.400L14 5.5',
  graph: 'M3 3v14h14M6 12.5l3-4 3 2.5 4.5-6',
  log: 'M4 5h.01M4 10h.01M4 15h.01M7.5 5H17M7.5 10H14M7.5 15h8',
  administration: 'M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3.5 17c.5-3.5 3-5 6.5-5s6 1.5 6.5 5',
  menu: 'M3 5.5h14M3 10h14M3 14.5h14',
  close: 'm5 5 10 10M15 5 5 15',
  command: 'M4 5.5 8.5 10 4 14.5M10.5 15H16',
  search: 'M8.5 3a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM12.5 12.5 17 17',
  sun: 'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.400 1.400M14.600 14.600 16 16M4 16l1.400-1.400M14.600 5.400 16 4',
  moon: 'M16.5 12A7 7 0 0 1 8 3.5a7 7 0 1 0 8.5 8.5z',
  system: 'M3 3.5h14v10H3zM7 17h6M10 13.5V17',
  help: 'M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15zM7.800 7.800c.2-3 4.5-2.800 4.400 0 0 1.700-2.200 1.700-2.200 3.5M10 14h.01',
  copy: 'M7 7h10v10H7zM13 7V3H3v10h4',
  add: 'M10 4v12M4 10h12',
  edit: 'M3 17v-3.5L13.5 3 17 6.5 6.5 17z',
  remove: 'M4 5.5h12M8 5.5V3.5h4v2M6 5.5 6.800 17h6.400L14 5.5',
  refresh: 'M16.5 10a6.5 6.5 0 1 1-2-4.700M16.5 2.5v4h-4',
  leave: 'M8 3H3v14h5M12 6l4 4-4 4M16 10H7',
  back: 'm11.5 4-6 6 6 6',
  next: 'm8.5 4 6 6-6 6',
  sorted: 'm5 8 5 5 5-5',
} as const

export type IconName = keyof typeof paths

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}

export function Logo() {
  return (
    <svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
      <path d="M12 1.5 21.5 7v10L12 22.5 2.5 17V7z" />
      <path class="mark-inner" d="M7 9.5 12 12.4l5-2.9M12 12.4V18" />
    </svg>
  )
}
