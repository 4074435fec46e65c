/** The button of a deploy, a check before it, and its progress. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Group } from '../../../resources/vclgroup.js'
import { Button } from '../../parts/button.js'
import { ErrorNote } from '../../parts/error-note.js'
import { SelectField } from '../../parts/field.js'
import { GroupProblems } from './group-problems.js'
import { mayChangeGroup } from './may-change-group.js'
import { Places } from './places.js'
import { ProgressLine } from './progress-line.js'
import type { Verbs } from './use-verbs.js'

const waits = [
  { value: '60', title: 'at most 1 minute' },
  { value: '300', title: 'at most 5 minutes' },
  { value: '600', title: 'at most 10 minutes' },
  { value: '0', title: 'do not wait' },
]
const percents = [
  { value: '100', title: 'all caches have it' },
  { value: '75', title: '75 % have it' },
  { value: '50', title: '50 % have it' },
]

const compiles = [
  {
    title: 'Compile on one cache',
    agents: 'one',
    done: 'Compiles on one of its caches.',
  },
  {
    title: 'Compile on all caches',
    agents: 'all',
    done: 'Compiles on all its caches.',
  },
]

export function DeployForm({ group, verbs }: { readonly group: Group; readonly verbs: Verbs }) {
  const wait = useSignal('60')
  const percent = useSignal('100')
  const { name } = group
  const { isBusy, error, last } = verbs
  const outcome = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isBusy || error) outcome.current?.scrollIntoView({ block: 'nearest' })
  }, [isBusy, error])
  const query = { wait: wait.value, percent: percent.value }
  return (
    <section class="panel" aria-label="Deploy">
      <h2>Deploy</h2>
      <p class="quiet">
        All caches load and compile it first. They switch only if enough of them succeed; otherwise
        the old VCL keeps serving.
      </p>
      {mayChangeGroup(group) && (
        <div class="group-choices">
          <SelectField label="Wait" value={wait} options={waits} />
          <SelectField label="Until" value={percent} options={percents} />
        </div>
      )}
      <div class="row">
        {mayChangeGroup(group) && (
          <Button
            kind="main"
            isBusy={isBusy}
            onClick={() => {
              verbs.act(group, { name: 'deploy', query, done: `${name} deployed.` })
            }}
          >
            Deploy
          </Button>
        )}
        {compiles.map(({ title, agents, done }) => (
          <Button
            key={agents}
            isBusy={isBusy}
            onClick={() => {
              verbs.act(group, { name: 'validate', query: { agents }, done })
            }}
          >
            {title}
          </Button>
        ))}
      </div>
      {/* Below the buttons, which stay under the pointer. */}
      <div class="group-outcome" ref={outcome}>
        {error && <GroupProblems group={group} text={error.errorMsg} />}
        {error && <ErrorNote error={error} />}
        <ProgressLine group={group} verbs={verbs} />
        {last && !error && last.name !== 'validate' && <Places group={group} last={last} />}
      </div>
    </section>
  )
}
