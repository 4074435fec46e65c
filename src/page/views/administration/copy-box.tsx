/** A text to be copied: a secret that is shown this once, a command. */
import { Button } from '../../parts/button.js'
import { copyText } from '../../parts/copy.js'

export interface CopyBoxProps {
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
