/** What a cache said of a text: that it compiles, or what is wrong and where. */
import { Link } from 'wouter-preact'
import type { FleetFile } from '../../api/file.js'
import { ErrorNote } from '../../parts/error-note.js'
import type { Checked } from './check.js'
import { readProblems, type Problem } from './read-problems.js'

export function problemsOf({ outcome, files }: Checked): readonly Problem[] {
  return outcome.ok ? [] : readProblems(outcome.error.errorMsg, new Set(files.keys()))
}

export interface CheckResultProps {
  readonly checked: Checked
  readonly file: FleetFile
  readonly onLine: (line: number) => void
}

export function CheckResult({ checked, file, onLine }: CheckResultProps) {
  const { outcome, files } = checked
  if (outcome.ok)
    return (
      <p class="file-compiles" role="status">
        It compiles on {outcome.value.agents.map(({ name }) => name).join(', ')}.
      </p>
    )
  return (
    <div class="file-result">
      <ul class="file-problems" aria-label="Places">
        {problemsOf(checked).map((problem, place) => (
          <li key={place}>
            <Place {...{ problem, onLine }} id={files.get(problem.file)} own={file.id} />{' '}
            {problem.message}
          </li>
        ))}
      </ul>
      <ErrorNote error={outcome.error} />
    </div>
  )
}

function Place(props: {
  readonly problem: Problem
  readonly id: number | undefined
  readonly own: number
  readonly onLine: (line: number) => void
}) {
  const { problem, id, own, onLine } = props
  const { file, line } = problem
  const words = `${file} line ${line}`
  if (id !== own) return <Link href={`/files/${id ?? 0}?line=${line}`}>{words}</Link>
  return (
    <button
      type="button"
      class="file-place"
      onClick={() => {
        onLine(line)
      }}
    >
      {words}
    </button>
  )
}
