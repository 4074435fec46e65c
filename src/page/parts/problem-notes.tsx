/** The problems of an object: cause, since when, remedy, and a button that applies the remedy or leads to it. */
import type { ComponentChildren } from 'preact'
import type { Problem } from '../../resources/problem.js'
import { Time } from './time.js'

interface ProblemNotesProps {
  readonly problems: readonly Problem[]
  readonly button?: (problem: Problem) => ComponentChildren
}

export function ProblemNotes({ problems, button }: ProblemNotesProps) {
  if (problems.length === 0) return null
  return (
    <section aria-label="Problems">
      <ul class="plain-list">
        {problems.map((problem) => (
          <li
            key={problem.code}
            class={`problem-note ${problem.severity === 3 ? 'tone-bad' : 'tone-warn'}`}
          >
            <ProblemWords problem={problem} />
            {button?.(problem)}
          </li>
        ))}
      </ul>
    </section>
  )
}

function ProblemWords({ problem }: { readonly problem: Problem }) {
  const { message, since, remedy } = problem
  return (
    <div class="problem-note-words">
      <p>
        <b>{message}</b>, <Time at={since} isAgo />
      </p>
      <p>
        {remedy.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}
      </p>
    </div>
  )
}
