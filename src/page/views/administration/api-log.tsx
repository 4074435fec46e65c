/** The api log: who changed what, live; what was refused, and what failed. */
import { useLocation, useSearch } from 'wouter-preact'
import type { ApiLogEntry } from '../../api/api-log-entry.js'
import { useList } from '../../api/list.js'
import { Button } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { copyText } from '../../parts/copy.js'
import { Dialog } from '../../parts/dialog.js'
import { Empty } from '../../parts/empty.js'
import { StateChip, type Tone } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { AdministrationHead } from './administration-head.js'
import { Fact } from './fact.js'
import { ObjectList } from '../../parts/object-list.js'
import { countSeverities, pickEntries } from './pick-entries.js'

export function View() {
  const list = useList<ApiLogEntry>('/apilogs', newestFirst)
  const text = useSearchText()
  const [severity, setSeverity] = useAddressField('severity')
  const [entry, setEntry] = useAddressField('entry')
  const [, setText] = useAddressField('q')
  const search = useSearch()
  const [path] = useLocation()
  const found = pickEntries(list.rows, { text, severity: '' })
  const shown = pickEntries(found, { text: '', severity })
  const opened = list.rows.find(({ id }) => String(id) === entry)
  const close = (): void => {
    setEntry('')
  }
  return (
    <>
      <AdministrationHead title="API log" />
      {list.rows.length > 0 && (
        <Choices
          label="Severity"
          value={severity}
          onChoose={setSeverity}
          choices={[{ value: '', title: 'All', count: found.length }, ...countSeverities(found)]}
        />
      )}
      <ObjectList
        {...{ list, columns }}
        label="API log"
        rows={shown}
        sorting={{ title: 'Time', isDescending: true }}
        linkOf={({ id }) => `${path}?${withEntry(search, id)}`}
      >
        <Empty icon="file" title="Nothing is in the log yet">
          <p>Each call that changes something, and each login that fails, will be here.</p>
        </Empty>
      </ObjectList>
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

const newestFirst = { query: { sort: 'id:desc' }, follow: ['apilog'], isWhole: true } as const

function withEntry(search: string, id: number): string {
  const fields = new URLSearchParams(search)
  fields.set('entry', String(id))
  return fields.toString()
}

const tones: Readonly<Record<number, Tone>> = { 1: 'good', 2: 'warn', 3: 'bad' }

function StatusChip({ entry: { severity, status } }: { readonly entry: ApiLogEntry }) {
  return <StateChip state={String(status)} tone={tones[severity] ?? 'calm'} />
}

const columns: readonly Column<ApiLogEntry>[] = [
  {
    title: 'Call',
    // What nearly all begin with says nothing.
    show: ({ method, path }) => `${method} ${path.replace(/^\/api\/v1/, '')}`,
    sortBy: ({ path }) => path,
  },
  {
    title: 'Status',
    width: '6.5rem',
    show: (entry) => <StatusChip entry={entry} />,
    sortBy: ({ status }) => status,
  },
  {
    title: 'Time',
    width: '15rem',
    from: 'medium',
    show: ({ created }) => <Time at={created} />,
    // Entries of one millisecond in their own order.
    sortBy: ({ id }) => id,
  },
  {
    title: 'Account',
    width: '9rem',
    from: 'wide',
    show: ({ account }) => account,
    sortBy: ({ account }) => account,
  },
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
  return (
    <Dialog title={`${method} ${path}`} onClose={onClose}>
      <dl class="facts">
        <Fact title="Time">
          <Time at={created} />
        </Fact>
        <Fact title="Status">
          <StatusChip entry={entry} />
        </Fact>
        <Fact title="Message">{msg}</Fact>
        <Fact title="Account">{account || 'Unknown'}</Fact>
        <Fact title="About">{keyId === null ? keyType : `${keyType} ${keyId}`}</Fact>
        <Fact title="Trace">
          <code>{traceId}</code>{' '}
          <Button
            kind="quiet"
            icon="copy"
            label="Copy the trace id"
            onClick={() => void copyText(traceId)}
          />
        </Fact>
      </dl>
      <div class="dialog-foot">
        <Button icon="search" onClick={onTrace}>
          All of this trace
        </Button>
      </div>
    </Dialog>
  )
}
