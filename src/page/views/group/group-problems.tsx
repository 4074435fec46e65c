/** What is wrong with a group, and the one button that mends it or leads there. */
import type { Problem } from '../../../resources/problem.js'
import type { Group } from '../../../resources/vclgroup.js'
import { LinkButton } from '../../parts/button.js'
import { ProblemNotes } from '../../parts/problem-notes.js'
import { ProblemButton } from '../overview/problem-button.js'
import { chooseMend } from './choose-mend.js'

export function GroupProblems({ group }: { readonly group: Group }) {
  return (
    <ProblemNotes
      problems={group.problems}
      button={(problem) => <MendButton group={group} problem={problem} />}
    />
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
