/** One entry of a group's history: its content, its failures, and what a rollback to it would change. */
import type { Group, HistoryEntry } from '../../../resources/vclgroup.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { Time } from '../../parts/time.js'
import { CompileErrors } from './compile-errors.js'
import { FileChanges } from './file-changes.js'
import { mayChangeGroup } from './may-change-group.js'
import { nameResult } from './read-result.js'
import type { Verbs } from './use-verbs.js'

interface RevisionDialogProps {
  readonly group: Group
  readonly verbs: Verbs
  readonly entry: HistoryEntry
  readonly onClose: () => void
}

export function RevisionDialog({ group, verbs, entry, onClose }: RevisionDialogProps) {
  const { revision, action, account, at, result } = entry
  const isBefore = revision !== null && revision !== group.revision
  const how = nameResult(result) === 'rolled back' ? 'Rolled back' : 'Failed'
  const title = revision === null ? `${how} ${action}` : `Revision ${revision}, ${action}`
  return (
    <Dialog title={title} onClose={onClose} isWide>
      <div class="stack">
        <p class="quiet">
          <Time at={at} /> by {account || 'the coordinator'}
        </p>
        {result !== 'ok' && (
          <>
            <CompileErrors group={group} text={result} />
            <pre class="group-result">{result}</pre>
          </>
        )}
        <h3>{group.wish && isBefore ? 'Changes of the rollback' : 'Files'}</h3>
        <FileChanges before={isBefore ? group.wish : entry} after={entry} />
        {isBefore && mayChangeGroup(group) && (
          <div class="dialog-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button
              kind="main"
              isBusy={verbs.isBusy}
              onClick={() => {
                onClose()
                verbs.rollBack(group, revision)
              }}
            >
              Roll back to revision {revision}
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  )
}
