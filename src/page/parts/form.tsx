/** A form: its fields, errors about the form as a whole, its buttons. */
import type { ComponentChildren } from 'preact'
import type { Mutation } from '../api/mutation.js'
import type { CallError } from '../api/http.js'
import { Button } from './button.js'
import { EditError } from './edit-error.js'
import { isAbout } from './is-about.js'
import { Trace } from './trace.js'

interface FormProps {
  readonly mutation: Pick<Mutation, 'error' | 'isBusy'>
  /** Label of the submit button, a verb: "Save". */
  readonly verb: string
  readonly onSubmit: () => void
  readonly onCancel?: () => void
  /** The `name`s of its fields: an error about one of them is shown at that field. */
  readonly names?: readonly string[]
  /** For an object that others may change too: fills the form with the current values. */
  readonly onReadAgain?: (() => void) | undefined
  readonly children: ComponentChildren
}

export function Form(props: FormProps) {
  const { mutation, verb, onSubmit, onCancel, names = [], onReadAgain, children } = props
  const { error, isBusy } = mutation
  const isAtField = names.some((name) => isAbout(error, name))
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
      {isAtField ? (
        <FieldTrace error={error} />
      ) : (
        <EditError mutation={mutation} onReadAgain={onReadAgain} />
      )}
      <div class="dialog-foot">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button kind="main" type="submit" isBusy={isBusy}>
          {verb}
        </Button>
      </div>
    </form>
  )
}

/** Trace id of an error that is shown at its field. */
function FieldTrace({ error }: { readonly error: CallError | null }) {
  if (!error || error.traceId === '') return null
  return (
    <p class="field-hint">
      Trace <Trace id={error.traceId} />
    </p>
  )
}
