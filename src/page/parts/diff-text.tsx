/** A unified diff, line by line, with colours and signs. */

export function DiffText({ text, label }: { readonly text: string; readonly label: string }) {
  if (text.trim() === '') return <p class="quiet">No difference.</p>
  return (
    <pre class="diff" tabIndex={0} role="region" aria-label={label}>
      {text
        .replace(/\n$/, '')
        .split('\n')
        .map((line, index) => (
          <span class={classOf(line)} key={index}>
            {line}
            {'\n'}
          </span>
        ))}
    </pre>
  )
}

function classOf(line: string): string {
  if (/^(?:\+\+\+|---|@@|\\)/.test(line)) return 'diff-line diff-place'
  if (line.startsWith('+')) return 'diff-line tone-good'
  return line.startsWith('-') ? 'diff-line tone-bad' : 'diff-line'
}
