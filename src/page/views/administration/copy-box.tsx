/** A text to copy: a command, or a secret that is shown only once. */
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
  /** Defaults to "Token". */
  readonly label?: string
  /** Placed above the secret. */
  readonly first: ComponentChildren
  readonly children?: ComponentChildren
}

/** Shows a token after its creation. */
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
