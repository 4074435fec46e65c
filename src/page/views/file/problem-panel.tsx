/** Below the editor, of fixed height: the result of the check, each location a link to its line. */
import type { FleetFile } from '../../../resources/file.js'
import { ErrorNote } from '../../parts/error-note.js'
import { ProblemList } from './problem-list.js'
import { problemsOf, type Check } from './use-check.js'

interface ProblemPanelProps {
  readonly check: Check
  readonly file: FleetFile
  readonly onLine: (line: number) => void
}

export function ProblemPanel({ check, file: { id }, onLine }: ProblemPanelProps) {
  const { result } = check
  const problems = result ? problemsOf(result) : []
  return (
    <section class="file-problems" aria-label="Problems">
      <p class={`file-problems-head ${toneOf(check)}`} role="status">
        {describeCheck(check, problems.length)}
      </p>
      {result && <ProblemList problems={problems} files={result.files} open={{ id, onLine }} />}
      {result?.outcome.ok === false &&
        (problems.length === 0 ? (
          <ErrorNote error={result.outcome.error} />
        ) : (
          <details>
            <summary>Compiler output</summary>
            <pre tabIndex={0}>{result.outcome.error.errorMsg}</pre>
          </details>
        ))}
    </section>
  )
}

function describeCheck({ result, isBusy, isCurrent }: Check, count: number): string {
  if (isBusy) return 'Checking…'
  if (!result) return 'A cache checks the text while you type.'
  const before = isCurrent ? '' : 'Before the last change: '
  if (result.outcome.ok) {
    const names = result.outcome.value.agents.map(({ name }) => name).join(', ')
    return `${before}Compiles on ${names}.`
  }
  if (count === 0) return `${before}Not checked`
  return `${before}${count === 1 ? '1 problem' : `${count} problems`}`
}

function toneOf({ result, isCurrent }: Check): string {
  if (!result || !isCurrent) return 'quiet'
  return result.outcome.ok ? 'file-problems-good' : 'file-problems-bad'
}
