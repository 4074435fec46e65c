/** What a cache said of a text: that it compiles, or what is wrong and where. */
import type { FleetFile } from '../../../resources/file.js'
import { ErrorNote } from '../../parts/error-note.js'
import type { Checked } from './check.js'
import { ProblemList } from './problem-list.js'
import { readProblems, type Problem } from './read-problems.js'

export function problemsOf({ outcome, files }: Checked): readonly Problem[] {
  return outcome.ok ? [] : readProblems(outcome.error.errorMsg, new Set(files.keys()))
}

interface CheckResultProps {
  readonly checked: Checked
  readonly file: FleetFile
  readonly onLine: (line: number) => void
}

export function CheckResult({ checked, file: { id }, onLine }: CheckResultProps) {
  const { outcome, files } = checked
  if (outcome.ok)
    return (
      <p class="file-compiles tone-good" role="status">
        Compiles on {outcome.value.agents.map(({ name }) => name).join(', ')}.
      </p>
    )
  return (
    <div class="file-result">
      <ProblemList problems={problemsOf(checked)} files={files} open={{ id, onLine }} />
      <ErrorNote error={outcome.error} />
    </div>
  )
}
