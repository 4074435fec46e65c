/** The most frequent values in the traffic of the chosen caches, counted for some seconds. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { TopEntry, TopKind } from '../../../resources/logged-transaction.js'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { Button } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { isAbout } from '../../parts/is-about.js'
import { formatBytes, formatCount, formatShare } from '../../parts/quantity.js'
import { Table, type Column } from '../../parts/table.js'
import { useAddressField } from '../../shell/address.js'
import { selectTraffic } from './compose-query.js'
import { formatClock, formatText } from './format-request.js'
import { LogHead, useLogFilter } from './log-head.js'

const kinds: readonly { readonly value: TopKind; readonly title: string }[] = [
  { value: 'url', title: 'URLs' },
  { value: 'host', title: 'Hosts' },
  { value: 'status', title: 'Status' },
  { value: 'backend', title: 'Backends' },
  { value: 'missUrl', title: 'Missed URLs' },
  { value: 'slowUrl', title: 'Slow URLs' },
  { value: 'bytes', title: 'Bytes' },
]
const spans = ['5', '10', '30'].map((value) => ({ value, title: `${value} s` }))

interface TopRow extends TopEntry {
  readonly id: number
}

interface Counted {
  readonly rows: readonly TopRow[]
  readonly by: TopKind
  readonly title: string
}

export function View() {
  const filter = useLogFilter()
  const [byWord, setBy] = useAddressField('by')
  const [secondsWord, setSeconds] = useAddressField('seconds')
  const by = kinds.find(({ value }) => value === byWord)?.value ?? 'url'
  const seconds = spans.find(({ value }) => value === secondsWord)?.value ?? '5'
  const counted = useSignal<Counted | null>(null)
  const { isBusy, error, run } = useMutation()
  const leaving = useRef(new AbortController())
  useEffect(
    () => () => {
      leaving.current.abort()
    },
    [],
  )
  const count = async (): Promise<void> => {
    const words = selectTraffic(filter)
    words.set('by', by)
    words.set('seconds', seconds)
    const { signal } = leaving.current
    await run(
      () => call<readonly TopEntry[]>('GET', `/top?${words}`, { signal }),
      (entries) => {
        const until = formatClock(new Date().toISOString()).slice(0, 8)
        counted.value = {
          rows: entries.map((entry, id) => ({ ...entry, id })),
          by,
          title: `Counted for ${seconds} s until ${until}`,
        }
      },
    )
  }
  return (
    <>
      <LogHead filter={filter} error={error} />
      <div class="row">
        <Choices label="Count" choices={kinds} value={by} onChoose={setBy} />
        <Choices label="For" choices={spans} value={seconds} onChoose={setSeconds} />
        <Button kind="main" isBusy={isBusy} onClick={() => void count()}>
          Count
        </Button>
        <span class="quiet" role="status">
          {isBusy ? `Counting for ${seconds} s…` : counted.value?.title}
        </span>
      </div>
      {error && !isAbout(error, 'q') && <ErrorNote error={error} />}
      {counted.value && <Rows of={counted.value} />}
    </>
  )
}

function Rows({ of: { rows, by } }: { readonly of: Counted }) {
  if (rows.length === 0) return <Empty icon="log" title="No such request came meanwhile" />
  return (
    <Table
      label="Top"
      rows={rows}
      columns={by === 'bytes' ? byteColumns : requestColumns}
      isDense
      fills
    />
  )
}

const requestColumns = columnsOf('Requests', formatCount)
const byteColumns = columnsOf('Bytes', formatBytes)

function columnsOf(title: string, format: (count: number) => string): readonly Column<TopRow>[] {
  return [
    {
      title: 'Key',
      sortBy: ({ key }) => key,
      show: ({ key }) => <span title={formatText(key)}>{formatText(key)}</span>,
    },
    {
      title,
      width: '6.5rem',
      isEnd: true,
      sortBy: ({ count }) => count,
      show: ({ count }) => format(count),
    },
    {
      title: 'Share',
      from: 'medium',
      width: '5rem',
      isEnd: true,
      show: ({ share }) => formatShare(share, 1),
    },
    {
      title: 'Too high by at most',
      from: 'medium',
      width: '12rem',
      isEnd: true,
      show: ({ error }) => (error === 0 ? '' : format(error)),
    },
  ]
}
