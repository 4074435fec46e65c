/** Renames a file. */
import { useMutation } from '../../api/mutation.js'
import { Dialog } from '../../parts/dialog.js'
import { Form } from '../../parts/form.js'
import { Inputs, useInputForm } from '../../parts/input-form.js'
import { toast } from '../../parts/toasts.js'
import type { EditedFile } from './edited-file.js'

interface RenameProps {
  readonly edited: EditedFile
  /** The current name. */
  readonly before: string
  readonly onClose: () => void
}

export function Rename({ edited, before, onClose }: RenameProps) {
  const mutation = useMutation()
  const form = useInputForm(inputs, { name: before })
  const undo = (): void => {
    void edited.change({ name: before }).then((outcome) => {
      if (!outcome.ok) edited.error.value = outcome.error
    })
  }
  const rename = (): void => {
    const name = String(form.read()['name'])
    void mutation.run(
      () => edited.change({ name }),
      () => {
        toast(`Renamed to ${name}.`, { undo })
        onClose()
      },
    )
  }
  return (
    <Dialog title={`Rename ${before}`} onClose={onClose}>
      <Form
        mutation={mutation}
        verb="Rename"
        names={form.names}
        onSubmit={rename}
        onCancel={onClose}
      >
        <Inputs form={form} error={mutation.error} />
      </Form>
    </Dialog>
  )
}

const inputs = {
  name: {
    label: 'Name',
    required: true,
    hint: 'Include statements with the old name no longer find it. Caches keep what is deployed.',
  },
} as const
