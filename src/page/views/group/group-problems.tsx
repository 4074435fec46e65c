/** What is wrong with a group: why, since when, and the one button that mends it or leads there. */
import type { Problem } from '../../../resources/problem.js'
import type { Group } from '../../../resources/vclgroup.js'
import { LinkButton } from '../../parts/button.js'
import { Time } from '../../parts/time.js'
import { ProblemButton } from '../overview/problem-button.js'
import { chooseMend } from './choose-mend.js'

export function GroupProblems({ group }: { readonly group: Group }) {
  if (group.problems.length === 0) return null
  return (
    <section aria-label="Problems">
      <ul class="plain-list">
        {group.problems.map((problem) => (
          <OneProblem key={problem.code} group={group} problem={problem} />
        ))}
      </ul>
    </section>
  )
}

function OneProblem({ group, problem }: { readonly group: Group; readonly problem: Problem }) {
  const { message, since, remedy, severity } = problem
  return (
    <li class={`group-note group-problem ${severity === 3 ? 'tone-bad' : 'tone-warn'}`}>
      <div class="group-problem-words">
        <p>
          <b>{message}</b>, <Time at={since} isAgo />
        </p>
        <p>
          {remedy
            .split('`')
            .map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}
        </p>
      </div>
      <MendButton group={group} problem={problem} />
    </li>
  )
}

function MendButton({ group, problem }: { readonly group: Group; readonly problem: Problem }) {
  const { id, name, console } = group
  const mend = chooseMend(group, problem)
  if (mend === null) return null
  if (mend === 'rollback')
    return console ? null : (
      <ProblemButton problem={{ ...problem, object: { type: 'vclgroup', id, name } }} />
    )
  return <LinkButton href={mend.href}>{mend.title}</LinkButton>
}
