/** A button that fixes a problem in one click, or leads to the fix. */
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import type { OverviewProblem } from '../../../resources/overview.js'
import type { HistoryEntry } from '../../../resources/vclgroup.js'
import { Button, LinkButton } from '../../parts/button.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { notifyOutcome } from '../../parts/notify.js'
import { offer } from '../../parts/toasts.js'
import { mayWrite } from '../../session/rights.js'
import { chooseAction } from './choose-action.js'
import { findRollback } from './find-rollback.js'

export function ProblemButton({ problem }: { readonly problem: OverviewProblem }) {
  const mutation = useMutation()
  const action = chooseAction(problem, mayWrite)
  if (!action) return null
  const { object } = problem
  if (action.kind === 'open') return <LinkButton href={action.href}>{action.title}</LinkButton>
  const work =
    action.kind === 'retry'
      ? () => retry(action.path, object.name)
      : () => rollBack(action.path, object.name)
  return (
    <Button
      kind={action.kind === 'rollback' ? 'main' : 'plain'}
      isBusy={mutation.isBusy}
      onClick={() =>
        void mutation.run(async () => {
          await work()
          return { ok: true, value: null, etag: null, total: null }
        })
      }
    >
      {action.title}
    </Button>
  )
}

async function retry(path: string, name: string): Promise<void> {
  notifyOutcome(await call('PUT', path), `${name} is sent again.`)
}

/** Finds the target revision before asking for confirmation. */
async function rollBack(path: string, name: string): Promise<void> {
  const history = await call<readonly HistoryEntry[]>('GET', `${path}/history`)
  if (!history.ok) {
    notifyOutcome(history, '')
    return
  }
  const target = findRollback(history.value)
  if (target === null) {
    offer(`${name} has no earlier revision to go back to.`, null)
    return
  }
  const isSure = await confirmDestruction({
    title: `Roll back ${name} to revision ${target.revision}?`,
    text: `Its caches get what ${target.account} deployed as revision ${target.revision}, as a new revision. Nothing is lost: a deploy puts the newest files back.`,
    verb: 'Roll back',
  })
  if (!isSure) return
  const body = { revision: target.revision }
  notifyOutcome(await call('PUT', `${path}/rollback`, { body }), `${name} is rolled back.`)
}
