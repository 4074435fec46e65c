/** Another name for a file. */
import { useSignal } from '@preact/signals'
import { useDeed } from '../../api/deed.js'
import { Dialog } from '../../parts/dialog.js'
import { TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { toast } from '../../parts/toasts.js'
import type { EditedFile } from './edited-file.js'

export interface RenameProps {
  readonly edited: EditedFile
  readonly onClose: () => void
}

export function Rename({ edited, onClose }: RenameProps) {
  const deed = useDeed()
  const before = edited.newest?.file.name ?? ''
  const name = useSignal(before)
  const submit = (): void => {
    void deed.run(
      () => edited.change({ name: name.value }),
      () => {
        const undo = (): void => {
          void edited.change({ name: before }).then((outcome) => {
            if (!outcome.ok) edited.tell(outcome.error)
          })
        }
        toast(`Renamed to ${name.peek()}.`, { undo })
        onClose()
      },
    )
  }
  return (
    <Dialog title={`Rename ${before}`} onClose={onClose}>
      <Form deed={deed} verb="Rename" names={['name']} onSubmit={submit} onCancel={onClose}>
        <TextField
          label="Name"
          name="name"
          value={name}
          error={deed.error}
          hint="Include statements with the old name no longer find it. What is deployed stays."
          required
          autoFocus
        />
      </Form>
    </Dialog>
  )
}
