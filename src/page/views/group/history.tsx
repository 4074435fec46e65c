/** What happened to a group, newest first, and the way back. */
import { useEffect } from 'preact/hooks'
import type { Group, HistoryEntry } from '../../../resources/vclgroup.js'
import { useObject } from '../../api/object.js'
import { Button } from '../../parts/button.js'
import { agoColumn } from '../../parts/columns.js'
import { Dialog } from '../../parts/dialog.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { formatCount, unknown } from '../../parts/quantity.js'
import { StateChip } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { useDialog } from '../../parts/use-dialog.js'
import { FileChanges } from './file-changes.js'
import { GroupProblems } from './group-problems.js'
import { mayChangeGroup } from './may-change-group.js'
import type { Verbs } from './use-verbs.js'

/** A number for each, stable as newer ones come. */
type Row = HistoryEntry & { readonly id: number }

export function History({ group, verbs }: { readonly group: Group; readonly verbs: Verbs }) {
  const { value, error, reload } = useObject<readonly HistoryEntry[]>(
    `/vclgroups/${group.id}/history`,
    { follow: 'vclgroup', id: group.id },
  )
  const details = useDialog<Row>()
  // A refusal leaves no other trace.
  useEffect(reload, [verbs.isBusy])
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
        <Entry group={group} verbs={verbs} entry={details.subject} onClose={details.close} />
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
      show: ({ result }) => <StateChip state={result === 'ok' ? 'ok' : 'failed'} />,
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

interface EntryProps {
  readonly group: Group
  readonly verbs: Verbs
  readonly entry: Row
  readonly onClose: () => void
}

function Entry({ group, verbs, entry, onClose }: EntryProps) {
  const { revision, action, account, at, result } = entry
  const isBefore = revision !== null && revision !== group.revision
  const rollBack = (): void => {
    onClose()
    const done = `${group.name} rolled back to revision ${revision ?? ''}.`
    verbs.act(group, { name: 'rollback', body: { revision }, done })
  }
  const title = revision === null ? `Failed ${action}` : `Revision ${revision}, ${action}`
  return (
    <Dialog title={title} onClose={onClose} isWide>
      <div class="stack">
        <p class="quiet">
          <Time at={at} /> by {account || 'the coordinator'}
        </p>
        {result !== 'ok' && (
          <>
            <GroupProblems group={group} text={result} />
            <pre class="group-result">{result}</pre>
          </>
        )}
        <h3>{group.wish && isBefore ? 'Changes of the rollback' : 'Files'}</h3>
        <FileChanges before={isBefore ? group.wish : entry} after={entry} />
        {isBefore && mayChangeGroup(group) && (
          <div class="dialog-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="main" isBusy={verbs.isBusy} onClick={rollBack}>
              Roll back to revision {revision}
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  )
}
