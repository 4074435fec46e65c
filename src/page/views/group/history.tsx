/** The history of a group, newest first, with rollback. */
import type { Group, HistoryEntry } from '../../../resources/vclgroup.js'
import { Button } from '../../parts/button.js'
import { agoColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { formatCount, unknown } from '../../parts/quantity.js'
import { StateChip } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { useDialog } from '../../parts/use-dialog.js'
import { RevisionDialog } from './revision-dialog.js'
import { findReason, nameResult } from './read-result.js'
import { useHistory } from './use-history.js'
import type { Verbs } from './use-verbs.js'

/** The id of an entry stays the same as newer entries arrive. */
type Row = HistoryEntry & { readonly id: number }

export function History({ group, verbs }: { readonly group: Group; readonly verbs: Verbs }) {
  const { value, error, reload } = useHistory(group, verbs)
  const details = useDialog<Row>()
  const rows = (value ?? []).map((entry, index, all) => ({ ...entry, id: all.length - index }))
  const columns = listColumns(details.open)
  if (error) return <ErrorNote error={error} onRetry={reload} />
  if (value?.length === 0)
    return (
      <Empty icon="deployment" title="No history yet">
        <p>
          Every deploy is listed here with the versions that it used, and can be rolled back to.
        </p>
      </Empty>
    )
  return (
    <>
      {value && <Table label="History" rows={rows} columns={columns} />}
      {details.subject && (
        <RevisionDialog
          group={group}
          verbs={verbs}
          entry={details.subject}
          onClose={details.close}
        />
      )}
    </>
  )
}

function listColumns(show: (row: Row) => void): readonly Column<Row>[] {
  return [
    {
      title: 'What',
      show: (row) => (
        <span class="group-entry">
          <Button
            kind="quiet"
            onClick={() => {
              show(row)
            }}
          >
            {row.action}
            {row.revision !== null && ` · revision ${formatCount(row.revision)}`}
          </Button>
        </span>
      ),
    },
    {
      title: 'Result',
      width: '7rem',
      show: ({ result }) => <StateChip state={nameResult(result)} />,
    },
    {
      title: 'Why',
      from: 'wide',
      show: ({ result }) => <span title={result}>{findReason(result) ?? unknown}</span>,
    },
    {
      title: 'Main VCL',
      from: 'wide',
      show: ({ mainVCL }) => `${mainVCL.name}, version ${mainVCL.version}`,
    },
    { title: 'By', from: 'medium', show: ({ account }) => account || unknown },
    agoColumn('When', ({ at }) => at, { from: 'medium' }),
  ]
}
