/** The problems of a group, each with a button that fixes it or leads to the fix. */
import type { Problem } from '../../../resources/problem.js'
import type { Group } from '../../../resources/vclgroup.js'
import { LinkButton } from '../../parts/button.js'
import { ProblemNotes } from '../../parts/problem-notes.js'
import { ProblemButton } from '../overview/problem-button.js'
import { chooseMend, isFailedDeploy } from './choose-mend.js'

interface GroupProblemsProps {
  readonly group: Group
  /** True if the full error of the failed deploy is shown below. */
  readonly showsFailure: boolean
}

export function GroupProblems({ group, showsFailure }: GroupProblemsProps) {
  return (
    <ProblemNotes
      problems={group.problems.filter((problem) => !(showsFailure && isFailedDeploy(problem)))}
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
