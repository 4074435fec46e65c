/** Asks for the one word that an object is known by: to make it, or to give it another. */
import { useSignal } from '@preact/signals'
import type { Deed } from '../api/deed.js'
import { Dialog } from './dialog.js'
import { TextField } from './field.js'
import { Form } from './form.js'

export interface NameDialogProps {
  readonly title: string
  readonly verb: string
  readonly label: string
  /** The API's name of the field. */
  readonly field: string
  readonly hint?: string
  readonly start?: string
  readonly deed: Deed
  readonly onSave: (word: string) => void
  readonly onClose: () => void
}

export function NameDialog(props: NameDialogProps) {
  const { title, verb, label, field, hint, start = '', deed, onSave, onClose } = props
  const word = useSignal(start)
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        deed={deed}
        verb={verb}
        names={[field]}
        onCancel={onClose}
        onSubmit={() => {
          onSave(word.value)
        }}
      >
        <TextField
          {...{ label, name: field, error: deed.error, autoFocus: true, required: true }}
          {...(hint === undefined ? {} : { hint })}
          value={word}
        />
      </Form>
    </Dialog>
  )
}
