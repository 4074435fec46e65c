/** A text to be copied: a command, or a secret that is shown this once. */
import type { ComponentChildren } from 'preact'
import { Button } from '../../parts/button.js'
import { copyText } from '../../parts/copy.js'
import { Dialog, type DialogProps } from '../../parts/dialog.js'

interface CopyBoxProps {
  readonly title: string
  readonly text: string
  readonly hint?: string
}

export function CopyBox({ title, text, hint }: CopyBoxProps) {
  return (
    <section class="copy-box" aria-label={title}>
      <div class="copy-box-head">
        <h3>{title}</h3>
        <Button icon="copy" onClick={() => void copyText(text)}>
          Copy
        </Button>
      </div>
      {hint !== undefined && <p class="field-hint">{hint}</p>}
      <pre class="copy-box-text" tabIndex={0}>
        {text}
      </pre>
    </section>
  )
}

interface SecretDialogProps extends Omit<DialogProps, 'children'> {
  readonly secret: string
  /** "Token" unless given. */
  readonly label?: string
  /** Above the secret. */
  readonly first: ComponentChildren
  readonly children?: ComponentChildren
}

/** Shows a token after it was made. */
export function SecretDialog({
  secret,
  label = 'Token',
  first,
  children,
  ...dialog
}: SecretDialogProps) {
  return (
    <Dialog {...dialog}>
      <div class="stack">
        {first}
        <CopyBox title={label} text={secret} />
        {children}
        <div class="dialog-foot">
          <Button kind="main" onClick={dialog.onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
