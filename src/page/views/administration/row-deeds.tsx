/** What can be done with an object of a list: change it, delete it. */
import { Button } from '../../parts/button.js'
import type { Column } from '../../parts/table.js'

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

/** The last column of a list whose objects can be changed and deleted. */
export function deedsColumn<Row extends { readonly id: number }>(
  nameOf: (row: Row) => string,
  edit: (row: Row) => void,
  remove: (row: Row) => void,
): Column<Row> {
  return {
    title: 'Change',
    width: '6.5rem',
    isEnd: true,
    show: (row) => (
      <RowDeeds
        name={nameOf(row)}
        onEdit={() => {
          edit(row)
        }}
        onDelete={() => {
          remove(row)
        }}
      />
    ),
  }
}
