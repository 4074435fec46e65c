/** Problems, worst first: object, reason, start time, and the button that fixes each. */
import { useSignal } from '@preact/signals'
import { Link } from 'wouter-preact'
import type { Overview, OverviewProblem } from '../../../resources/overview.js'
import { Icon } from '../../parts/icon.js'
import { formatCount } from '../../parts/quantity.js'
import { Time } from '../../parts/time.js'
import { isAnyIll } from './list-counts.js'
import { locateProblem } from './locate-object.js'
import { ProblemButton } from './problem-button.js'
import { ShowMore } from './show-more.js'

/** Further problems are behind a button, because the figures below help to judge them. */
const firstShown = 6

interface ProblemsProps {
  readonly problems: readonly OverviewProblem[]
  readonly overview: Overview
}

export function Problems({ problems, overview }: ProblemsProps) {
  const isWhole = useSignal(false)
  const total = overview.problemsTotal ?? problems.length
  if (problems.length === 0) return <AllIsWell overview={overview} />
  const shown = isWhole.value ? problems : problems.slice(0, firstShown)
  return (
    <section class="panel overview-problems" aria-label="Problems">
      <h2>
        {formatCount(total)} {total === 1 ? 'problem' : 'problems'}
      </h2>
      <ul class="plain-list">
        {shown.map((problem) => (
          <Problem key={keyOf(problem)} problem={problem} />
        ))}
      </ul>
      {problems.length > firstShown && (
        <ShowMore isWhole={isWhole} more={problems.length - firstShown}>
          {isWhole.value && total > problems.length && (
            <span class="quiet">The worst {formatCount(problems.length)} are listed.</span>
          )}
        </ShowMore>
      )}
    </section>
  )
}

function keyOf({ object, code }: OverviewProblem): string {
  return `${object.type} ${object.id} ${code}`
}

function Problem({ problem }: { readonly problem: OverviewProblem }) {
  const { object, message, since, remedy, severity } = problem
  const place = locateProblem(problem)
  return (
    <li class={`overview-problem overview-${severity === 3 ? 'bad' : 'warn'}`}>
      <div class="overview-problem-words">
        <p class="overview-problem-object">
          <span class={`overview-severity tone-${severity === 3 ? 'bad' : 'warn'}`}>
            {severity === 3 ? 'Error' : 'Warning'}
          </span>
          {place ? (
            <Link href={place.href}>
              <Icon name={place.icon} />
              {object.name}
            </Link>
          ) : (
            object.name
          )}
          <span class="quiet">
            <Time at={since} isAgo />
          </span>
        </p>
        <p class="overview-problem-message">{message}</p>
        <p class="overview-problem-remedy quiet">
          <Remedy text={remedy} />
        </p>
      </div>
      <ProblemButton problem={problem} />
    </li>
  )
}

/** Commands are enclosed in backticks. */
function Remedy({ text }: { readonly text: string }) {
  return (
    <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
  )
}

function AllIsWell({ overview: { agents, groups } }: { readonly overview: Overview }) {
  // A cache that just went down is reported as a problem only seconds later.
  if (isAnyIll(agents) || isAnyIll(groups)) return null
  const isEmpty = Object.values(agents ?? {}).every((count) => count === 0)
  const isDeployed = (groups?.Active ?? 0) > 0
  return (
    <section class="panel overview-well" aria-label="Problems">
      <span class="overview-well-mark tone-good" aria-hidden="true">
        ✓
      </span>
      <div>
        <h2>{isEmpty ? 'Nothing is wrong, and nothing is here yet' : 'All is well'}</h2>
        <p class="quiet">
          {isEmpty
            ? 'Add a cache: run cachefleetd enroll on its host.'
            : isDeployed
              ? 'No cache, group or certificate has a problem.'
              : 'No cache has a problem. No group is deployed yet.'}
        </p>
      </div>
    </section>
  )
}
