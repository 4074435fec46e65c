/** Another name for a file. */
import { useDeed } from '../../api/deed.js'
import { NameDialog } from '../../parts/name-dialog.js'
import { toast } from '../../parts/toasts.js'
import type { EditedFile } from './edited-file.js'

export interface RenameProps {
  readonly edited: EditedFile
  /** As it is called now. */
  readonly before: string
  readonly onClose: () => void
}

export function Rename({ edited, before, onClose }: RenameProps) {
  const deed = useDeed()
  const rename = (name: string): void => {
    const undo = (): void => {
      void edited.change({ name: before }).then((outcome) => {
        if (!outcome.ok) edited.tell(outcome.error)
      })
    }
    void deed.run(
      () => edited.change({ name }),
      () => {
        toast(`Renamed to ${name}.`, { undo })
        onClose()
      },
    )
  }
  return (
    <NameDialog
      {...{
        title: `Rename ${before}`,
        verb: 'Rename',
        label: 'Name',
        field: 'name',
        deed,
        onClose,
      }}
      hint="Include statements with the old name no longer find it. What is deployed stays."
      start={before}
      onSave={rename}
    />
  )
}
