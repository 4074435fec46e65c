/** A form: its fields, what is wrong with the whole of it, its buttons. */
import type { ComponentChildren } from 'preact'
import type { Deed } from '../api/deed.js'
import { Button } from './button.js'
import { ErrorNote } from './error-note.js'
import { isAbout } from './is-about.js'

export interface FormProps {
  readonly deed: Deed
  /** The verb on its button: "Save". */
  readonly verb: string
  readonly onSubmit: () => void
  readonly onCancel?: () => void
  /** The `name`s of its fields: what is wrong with one of them stands there. */
  readonly names?: readonly string[]
  readonly children: ComponentChildren
}

export function Form({ deed, verb, onSubmit, onCancel, names = [], children }: FormProps) {
  const { error, isBusy } = deed
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
      {error && !names.some((name) => isAbout(error, name)) && <ErrorNote error={error} />}
      <div class="dialog-foot">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button kind="main" type="submit" isBusy={isBusy}>
          {verb}
        </Button>
      </div>
    </form>
  )
}
