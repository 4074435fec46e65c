/** The buttons of one object: edit and delete. */
import { Button } from './button.js'

interface ObjectActionsProps {
  /** "Edit", "Rename". */
  readonly verb: string
  readonly onEdit: () => void
  readonly onDelete: () => void
  readonly isDeleting: boolean
}

export function ObjectActions({ verb, onEdit, onDelete, isDeleting }: ObjectActionsProps) {
  return (
    <>
      <Button icon="edit" onClick={onEdit}>
        {verb}
      </Button>
      <Button icon="remove" isBusy={isDeleting} onClick={onDelete}>
        Delete
      </Button>
    </>
  )
}
