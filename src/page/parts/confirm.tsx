/** Asks for confirmation before something is destroyed: the user types its name. */
import { signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Button } from './button.js'
import { Dialog } from './dialog.js'
import { TextField } from './field.js'

export interface Question {
  /** For example "Delete the group shop?" */
  readonly title: string
  /** What will be deleted, and what cannot be restored. */
  readonly text: ComponentChildren
  /** Label of the button, a verb: "Delete". */
  readonly verb: string
  /** The name the user must type; if omitted, the button alone is enough. */
  readonly name?: string
  /** The action loses nothing. */
  readonly isHarmless?: boolean
}

const asked = signal<(Question & { readonly answer: (yes: boolean) => void }) | null>(null)

/** `if (await confirmDestruction({…})) …`; a second question resolves the first to false. */
export function confirmDestruction(question: Question): Promise<boolean> {
  asked.value?.answer(false)
  return new Promise((resolve) => {
    const answer = (yes: boolean): void => {
      asked.value = null
      resolve(yes)
    }
    asked.value = { ...question, answer }
  })
}

/** Rendered once, in the shell. */
export function Confirmation() {
  return asked.value && <ConfirmDialog key={asked.value.title} {...asked.value} />
}

function ConfirmDialog(props: Question & { readonly answer: (yes: boolean) => void }) {
  const { title, text, verb, name, isHarmless = false, answer } = props
  const typed = useSignal('')
  const isRight = name === undefined || typed.value === name
  return (
    <Dialog
      title={title}
      onClose={() => {
        answer(false)
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isRight) answer(true)
        }}
      >
        <div class="stack">
          <div>{text}</div>
          {name !== undefined && (
            <TextField
              label={`Type “${name}” to confirm`}
              value={typed}
              autoComplete="off"
              autoFocus
            />
          )}
        </div>
        <div class="dialog-foot">
          <Button
            onClick={() => {
              answer(false)
            }}
          >
            Cancel
          </Button>
          <Button kind={isHarmless ? 'main' : 'danger'} type="submit" disabled={!isRight}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
