/** The newest rollouts of a group: the result and reason of each. */
import type { Rollout } from '../../../../resources/rollout.js'
import { Button } from '../../../parts/button.js'
import { agoColumn, stateColumn } from '../../../parts/columns.js'
import { Dialog } from '../../../parts/dialog.js'
import { formatCount, unknown } from '../../../parts/quantity.js'
import { startSentence } from '../../../parts/start-sentence.js'
import { Table, type Column } from '../../../parts/table.js'
import { useDialog } from '../../../parts/use-dialog.js'
import { wordOfState } from './describe-rollout.js'
import { RolloutDetails } from './rollout-details.js'
import { Course, Reason } from './rollout-panel.js'

export function PastRollouts({ rollouts }: { readonly rollouts: readonly Rollout[] }) {
  const details = useDialog<number>()
  const shown = rollouts.find(({ id }) => id === details.subject)
  return (
    <section class="panel" aria-label="Rollouts">
      {rollouts.length === 0 && (
        <p class="quiet">
          Nothing was deployed in waves yet. The policy of the group, or the options of a deploy,
          say how.
        </p>
      )}
      {rollouts.length > 0 && (
        <Table label="Rollouts of the group" rows={rollouts} columns={listColumns(details.open)} />
      )}
      {shown && (
        <Dialog
          title={`Rollout ${shown.id} to revision ${shown.revision}: ${wordOfState(shown.stateName)}`}
          onClose={details.close}
          isWide
        >
          <div class="stack">
            <Reason rollout={shown} />
            <Course rollout={shown} />
            <RolloutDetails rollout={shown} />
          </div>
        </Dialog>
      )}
    </section>
  )
}

function listColumns(show: (id: number) => void): readonly Column<Rollout>[] {
  return [
    {
      title: 'Rollout',
      width: '11rem',
      show: ({ id, revision }) => (
        <span class="group-entry">
          <Button
            kind="quiet"
            onClick={() => {
              show(id)
            }}
          >
            {formatCount(id)} · revision {formatCount(revision)}
          </Button>
        </span>
      ),
      sortBy: ({ id }) => id,
    },
    stateColumn('State', ({ stateName }) => wordOfState(stateName), { width: '8rem' }),
    {
      title: 'Why',
      from: 'medium',
      show: ({ reason }) => (
        <span title={reason ?? ''}>{reason === null ? unknown : startSentence(reason)}</span>
      ),
    },
    { title: 'By', width: '8rem', from: 'wide', show: ({ account }) => account || unknown },
    agoColumn('Begun', ({ startedAt }) => startedAt, { from: 'medium' }),
  ]
}
