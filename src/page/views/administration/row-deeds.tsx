/** What can be done with an object of a list: change it, delete it. */
import { Button } from '../../parts/button.js'

export interface RowDeedsProps {
  readonly name: string
  readonly onEdit?: () => void
  readonly onDelete?: () => void
  /** What deleting is called here: "End". */
  readonly verb?: string
}

export function RowDeeds({ name, onEdit, onDelete, verb = 'Delete' }: RowDeedsProps) {
  return (
    <span class="row-deeds">
      {onEdit && <Button kind="quiet" icon="edit" label={`Change ${name}`} onClick={onEdit} />}
      {onDelete && (
        <Button kind="quiet" icon="remove" label={`${verb} ${name}`} onClick={onDelete} />
      )}
    </span>
  )
}
