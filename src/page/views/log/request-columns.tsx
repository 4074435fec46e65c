/** The columns of the live log. */
import { formatBytes } from '../../parts/quantity.js'
import { StateChip } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { formatClock, formatMs, formatText, toneOfStatus } from './format-request.js'
import type { LogLine } from './use-log.js'

export const requestColumns: readonly Column<LogLine>[] = [
  { title: 'Time', width: '8.5rem', show: ({ at }) => formatClock(at) },
  {
    title: 'Status',
    width: '5.5rem',
    show: ({ status }) => <StateChip state={String(status)} tone={toneOfStatus(status)} />,
  },
  { title: 'Handling', from: 'medium', width: '6.25rem', show: ({ handling }) => handling },
  { title: 'Method', from: 'widest', width: '6rem', show: ({ method }) => <Text of={method} /> },
  { title: 'Host', from: 'medium', width: '11rem', show: ({ host }) => <Text of={host} /> },
  { title: 'URL', show: ({ url }) => <Text of={url} /> },
  { title: 'Cache', from: 'wide', width: '7rem', show: ({ agent }) => <Text of={agent.name} /> },
  {
    title: 'First byte',
    from: 'wide',
    width: '6.5rem',
    isEnd: true,
    show: ({ ttfbMs }) => formatMs(ttfbMs),
  },
  {
    title: 'Size',
    from: 'widest',
    width: '6rem',
    isEnd: true,
    show: ({ bytes }) => formatBytes(bytes),
  },
]

function Text({ of }: { readonly of: string }) {
  const text = formatText(of)
  return <span title={text}>{text}</span>
}
