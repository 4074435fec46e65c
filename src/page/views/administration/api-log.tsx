/** The api log: who changed what, live; what was refused, and what failed. */
import { useMemo } from 'preact/hooks'
import { useLocation, useSearch } from 'wouter-preact'
import type { ApiLogEntry } from '../../../resources/api-log-entry.js'
import { useList, type List } from '../../api/list.js'
import { Button } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { Dialog } from '../../parts/dialog.js'
import { Empty } from '../../parts/empty.js'
import { textColumn } from '../../parts/columns.js'
import { Facts } from '../../parts/facts.js'
import { ListView } from '../../parts/list-view.js'
import { formatCount } from '../../parts/quantity.js'
import { StateChip, type Tone } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { Trace } from '../../parts/trace.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { AdministrationHead } from './administration-head.js'
import { useEntry, useTraced } from './find-entries.js'
import {
  countSeverities,
  joinEntries,
  filterEntries,
  formatCall,
  formatStatus,
} from './filter-entries.js'

export function View() {
  const newest = useList<ApiLogEntry>('/apilogs', newestFirst)
  const text = useSearchText()
  const [typed, setText] = useAddressField('q')
  const traced = useTraced(typed)
  const [severity, setSeverity] = useAddressField('severity')
  const [entry, setEntry] = useAddressField('entry')
  const [calls, setCalls] = useAddressField('calls')
  const search = useSearch()
  const [path] = useLocation()
  const rows = useMemo(() => joinEntries(newest.rows, traced.rows), [newest.rows, traced.rows])
  const phase = traced.phase === 'loading' ? traced.phase : newest.phase
  const list = { ...newest, rows, phase, error: newest.error ?? traced.error }
  const isAll = calls !== ''
  const all = filterEntries(rows, { text, severity: '', isAll: true })
  const changes = filterEntries(all, { text, severity: '', isAll: false })
  const found = isAll ? all : changes
  const shown = filterEntries(found, { text, severity, isAll })
  const opened = useEntry(list, entry)
  const close = (): void => {
    setEntry('')
  }
  return (
    <>
      <ListView
        list={list}
        columns={columns}
        shown={shown}
        title="API log"
        Head={AdministrationHead}
        sorting={{ title: 'Time', isDescending: true }}
        linkOf={({ id }) => `${path}?${withEntry(search, id)}`}
        empty={
          <Empty icon="file" title="Nothing is in the log yet">
            <p>Each call that changes something, and each login that fails, will be here.</p>
          </Empty>
        }
      >
        {rows.length > 0 && (
          <div class="row">
            <Choices
              label="Calls"
              value={calls}
              onChoose={setCalls}
              choices={[
                { value: '', title: 'Changes', count: changes.length },
                { value: 'all', title: 'All calls', count: all.length },
              ]}
            />
            <Choices
              label="Severity"
              value={severity}
              onChoose={setSeverity}
              choices={[
                { value: '', title: 'All', count: found.length },
                ...countSeverities(found),
              ]}
            />
          </div>
        )}
        {newest.total > newest.rows.length && newest.phase === 'ready' && <OlderNote {...newest} />}
      </ListView>
      {opened && (
        <EntryDialog
          entry={opened}
          onClose={close}
          onTrace={() => {
            close()
            setText(opened.traceId)
          }}
        />
      )}
    </>
  )
}

function OlderNote({ rows, total }: Pick<List<ApiLogEntry>, 'rows' | 'total'>) {
  return (
    <p class="quiet">
      These are the newest {formatCount(rows.length)} of {formatCount(total)}. Older ones are found
      by their whole trace id.
    </p>
  )
}

const newestFirst = { query: { sort: 'id:desc' }, follow: ['apilog'], isWhole: true } as const

function withEntry(search: string, id: number): string {
  const fields = new URLSearchParams(search)
  fields.set('entry', String(id))
  return fields.toString()
}

const tones: Readonly<Record<number, Tone>> = { 1: 'good', 2: 'warn', 3: 'bad' }

function StatusChip({ entry }: { readonly entry: ApiLogEntry }) {
  return <StateChip state={formatStatus(entry)} tone={tones[entry.severity] ?? 'calm'} />
}

const columns: readonly Column<ApiLogEntry>[] = [
  textColumn('Call', formatCall, { sortBy: ({ path }) => path }),
  {
    title: 'Status',
    width: '6.5rem',
    sortBy: ({ status }) => status,
    show: (entry) => <StatusChip entry={entry} />,
  },
  {
    title: 'Time',
    width: '15rem',
    from: 'medium',
    show: ({ created }) => <Time at={created} />,
    // Entries of one millisecond in their own order.
    sortBy: ({ id }) => id,
  },
  textColumn('Account', ({ account }) => account, { width: '9rem', from: 'wide' }),
  { title: 'Message', from: 'wide', show: ({ msg }) => msg },
]

interface EntryDialogProps {
  readonly entry: ApiLogEntry
  readonly onClose: () => void
  /** Shows all that has its trace id. */
  readonly onTrace: () => void
}

function EntryDialog({ entry, onClose, onTrace }: EntryDialogProps) {
  const { created, method, path, account, msg, keyType, keyId, traceId } = entry
  const title = method === '' ? 'Reported by an agent' : `${method} ${path}`
  return (
    <Dialog title={title} onClose={onClose}>
      <Facts
        of={[
          ['Time', <Time at={created} />],
          ['Status', <StatusChip entry={entry} />],
          ['Message', msg],
          ['Account', account || (method === '' ? 'Nobody' : 'Unknown')],
          ['About', keyId === null ? keyType : `${keyType} ${keyId}`],
          ['Trace', <Trace id={traceId} />],
        ]}
      />
      <div class="dialog-foot">
        <Button icon="search" onClick={onTrace}>
          All of this trace
        </Button>
      </div>
    </Dialog>
  )
}
