/** A form: its fields, what is wrong with the whole of it, its buttons. */
import type { ComponentChildren } from 'preact'
import type { Mutation } from '../api/mutation.js'
import type { CallError } from '../api/http.js'
import { Button } from './button.js'
import { EditError } from './edit-error.js'
import { isAbout } from './is-about.js'
import { Trace } from './trace.js'

interface FormProps {
  readonly mutation: Pick<Mutation, 'error' | 'isBusy'>
  /** The verb on its button: "Save". */
  readonly verb: string
  readonly onSubmit: () => void
  readonly onCancel?: () => void
  /** The `name`s of its fields: what is wrong with one of them stands there. */
  readonly names?: readonly string[]
  /** Of an object that others may change too: fills the form with what is there now. */
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

/** Of an error that stands at its field. */
function FieldTrace({ error }: { readonly error: CallError | null }) {
  if (!error || error.traceId === '') return null
  return (
    <p class="field-hint">
      Trace <Trace id={error.traceId} />
    </p>
  )
}
