/** The locations of compiler errors as links. */
import { Link } from 'wouter-preact'
import type { Problem } from './read-problems.js'

interface ProblemListProps {
  readonly problems: readonly Problem[]
  /** File ids by name. */
  readonly files: ReadonlyMap<string, number>
  /** The file in the editor, and the function that jumps to one of its lines. */
  readonly open?: { readonly id: number; readonly onLine: (line: number) => void }
}

export function ProblemList({ problems, files, open }: ProblemListProps) {
  if (problems.length === 0) return null
  return (
    <ul class="plain-list" aria-label="Places">
      {problems.map((problem, place) => (
        <li key={place}>
          <Place problem={problem} open={open} id={files.get(problem.file)} /> {problem.message}
        </li>
      ))}
    </ul>
  )
}

function Place(props: {
  readonly problem: Problem
  readonly id: number | undefined
  readonly open: ProblemListProps['open']
}) {
  const { problem, id, open } = props
  const { file, line } = problem
  const words = `${file} line ${line}`
  if (!open || id !== open.id) return <Link href={`/files/${id ?? 0}?line=${line}`}>{words}</Link>
  return (
    <button
      type="button"
      class="file-place"
      onClick={() => {
        open.onLine(line)
      }}
    >
      {words}
    </button>
  )
}
