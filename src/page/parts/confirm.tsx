/** Asks before something is destroyed: the person types its name. */
import { signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Button } from './button.js'
import { Dialog } from './dialog.js'
import { TextField } from './field.js'

export interface Question {
  /** "Delete the group shop?" */
  readonly title: string
  /** What will be gone, and what will not come back. */
  readonly text: ComponentChildren
  /** The verb on the button: "Delete". */
  readonly verb: string
  /** What has to be typed; left out: the button alone. */
  readonly name?: string
  /** Nothing is lost by it. */
  readonly isHarmless?: boolean
}

const asked = signal<(Question & { readonly answer: (yes: boolean) => void }) | null>(null)

/** `if (await confirmDestruction({…})) …`; a second question answers the first with no. */
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

/** Stands once, in the shell. */
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
