/** The API log, updated live: changes with their accounts, refused calls, and failures. */
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
import { useObjectNames } from './object-names.js'
import {
  countSeverities,
  joinEntries,
  filterEntries,
  formatCall,
  formatObject,
  formatStatus,
  type CallKind,
  type ObjectNames,
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
  const names = useObjectNames(rows)
  const columns = useMemo(() => listColumns(names), [names])
  const filter = { text, severity: '', names }
  const all = filterEntries(rows, { ...filter, calls: 'all' })
  const kinds = callKinds.map((kind) => ({
    ...kind,
    entries: filterEntries(all, { ...filter, calls: kind.value }),
  }))
  const kind = kinds.find(({ value }) => value === calls) ?? kinds[0]
  const found = kind?.entries ?? all
  const shown = severity === '' ? found : found.filter((one) => String(one.severity) === severity)
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
          <Empty icon="file" title="The log is empty">
            <p>Every call that changes something, and every failed login, appears here.</p>
          </Empty>
        }
      >
        {rows.length > 0 && (
          <LogFilters
            kinds={kinds}
            calls={calls}
            severity={severity}
            found={found}
            setCalls={setCalls}
            setSeverity={setSeverity}
          />
        )}
        {newest.total > newest.rows.length && newest.phase === 'ready' && <OlderNote {...newest} />}
      </ListView>
      {opened && (
        <EntryDialog
          entry={opened}
          names={names}
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

interface LogFiltersProps {
  readonly kinds: readonly {
    readonly value: CallKind
    readonly title: string
    readonly entries: readonly ApiLogEntry[]
  }[]
  readonly calls: string
  readonly setCalls: (kind: string) => void
  /** Entries of the chosen kind. */
  readonly found: readonly ApiLogEntry[]
  readonly severity: string
  readonly setSeverity: (severity: string) => void
}

function LogFilters(props: LogFiltersProps) {
  const { kinds, calls, setCalls, found, severity, setSeverity } = props
  return (
    <div class="row">
      <Choices
        label="Calls"
        value={calls}
        onChoose={setCalls}
        choices={kinds.map(({ value, title, entries }) => ({
          value,
          title,
          count: entries.length,
        }))}
      />
      <Choices
        label="Severity"
        value={severity}
        onChoose={setSeverity}
        choices={[{ value: '', title: 'All', count: found.length }, ...countSeverities(found)]}
      />
    </div>
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

const callKinds: readonly { readonly value: CallKind; readonly title: string }[] = [
  { value: '', title: 'Changes' },
  { value: 'logins', title: 'Logins' },
  { value: 'all', title: 'All calls' },
]

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

function listColumns(names: ObjectNames): readonly Column<ApiLogEntry>[] {
  return [
    textColumn('Call', formatCall, { sortBy: ({ path }) => path }),
    textColumn('Object', (entry) => formatObject(entry, names), { width: '10rem', from: 'medium' }),
    {
      title: 'Status',
      width: '6.5rem',
      sortBy: ({ status }) => status,
      show: (entry) => <StatusChip entry={entry} />,
    },
    {
      title: 'Time',
      width: '14.5rem',
      from: 'medium',
      show: ({ created }) => <Time at={created} />,
      // Sorting by id keeps the order of entries within the same millisecond.
      sortBy: ({ id }) => id,
    },
    textColumn('Account', ({ account }) => account, { width: '7rem', from: 'wide' }),
    { title: 'Message', from: 'wide', show: ({ msg }) => msg },
  ]
}

interface EntryDialogProps {
  readonly entry: ApiLogEntry
  readonly names: ObjectNames
  readonly onClose: () => void
  /** Shows all entries with the same trace id. */
  readonly onTrace: () => void
}

function EntryDialog({ entry, names, onClose, onTrace }: EntryDialogProps) {
  const { created, method, path, account, msg, traceId } = entry
  const title = method === '' ? 'Reported by an agent' : `${method} ${path}`
  return (
    <Dialog title={title} onClose={onClose}>
      <Facts
        of={[
          ['Time', <Time at={created} />],
          ['Status', <StatusChip entry={entry} />],
          ['Message', msg],
          ['Account', account || (method === '' ? 'Nobody' : 'Unknown')],
          ['Object', formatObject(entry, names)],
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
