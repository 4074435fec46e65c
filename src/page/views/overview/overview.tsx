/** The start page: problems and their fixes, the traffic of the fleet, and recent changes. */
import type { Overview } from '../../../resources/overview.js'
import { Empty } from '../../parts/empty.js'
import { LoadStatus } from '../../parts/load-status.js'
import { ViewHead } from '../../parts/view-head.js'
import { Changes } from './changes.js'
import { Problems } from './problems.js'
import { States } from './states.js'
import { Traffic } from './traffic.js'
import { useOverview } from './use-overview.js'
import { Worst } from './worst.js'

export function View() {
  const shown = useOverview()
  const { value } = shown
  return (
    <>
      <ViewHead title="Overview" />
      <LoadStatus of={shown} mutation={null} />
      {value && (isNothing(value) ? <NothingForYou /> : <Parts overview={value} />)}
    </>
  )
}

function isNothing(overview: Overview): boolean {
  const parts: readonly unknown[] = Object.values(overview)
  return parts.every((part) => part === null)
}

function Parts({ overview }: { readonly overview: Overview }) {
  const { problems, changes, worst } = overview
  return (
    <>
      {problems && <Problems problems={problems} overview={overview} />}
      <States overview={overview} />
      {overview.now && <Traffic overview={overview} now={overview.now} />}
      <div class="overview-columns">
        {worst && <Worst worst={worst} />}
        {changes && <Changes changes={changes} />}
      </div>
    </>
  )
}

function NothingForYou() {
  return (
    <Empty icon="administration" title="There is nothing that you may see yet">
      <p>An administrator of your organization can give you permissions; then log in again.</p>
    </Empty>
  )
}
