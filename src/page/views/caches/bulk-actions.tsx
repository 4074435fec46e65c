/** Actions on all selected caches together. */
import type { Signal } from '@preact/signals'
import type { Agent } from '../../../resources/agent.js'
import { Button, LinkButton } from '../../parts/button.js'
import { useDialog } from '../../parts/use-dialog.js'
import { mayRead, mayWrite, readWho } from '../../session/rights.js'
import { maxCaches, formatSubject } from '../graphs/subject.js'
import { isOwn } from '../cache/engine-rows.js'
import { BulkTags, formatCaches } from './bulk-tags.js'

/** One call per cache takes time, and an address holds only a limited number of ids. */
const maxTagged = 1_000
const maxBanned = 200

interface BulkActionsProps {
  readonly agents: readonly Agent[]
  readonly chosen: Signal<ReadonlySet<number>>
}

export function BulkActions({ agents, chosen }: BulkActionsProps) {
  const tagging = useDialog<readonly Agent[]>()
  const who = readWho()
  const own = agents.filter((agent) => who !== null && isOwn(agent, who))
  const ids = agents.map(({ id }) => id)
  const count = ids.length
  return (
    <div class="caches-bulk" role="group" aria-label="Selected caches">
      <span class="caches-bulk-count">{formatCaches(count)} selected</span>
      {mayWrite('agent') && mayRead('tag') && own.length === count && count <= maxTagged && (
        <Button
          icon="tag"
          onClick={() => {
            tagging.open(agents)
          }}
        >
          Tags
        </Button>
      )}
      {mayWrite('invalidation') && count <= maxBanned && (
        <LinkButton icon="invalidation" href={`/invalidations/new?agents=${ids.join()}`}>
          Ban
        </LinkButton>
      )}
      {mayRead('stats') && count <= maxCaches && (
        <LinkButton icon="graph" href={`/graphs?of=${formatSubject({ kind: 'agents', ids })}`}>
          Compare
        </LinkButton>
      )}
      <Button
        kind="quiet"
        icon="close"
        label="Clear the selection"
        onClick={() => {
          chosen.value = new Set()
        }}
      />
      {tagging.subject && (
        <BulkTags
          agents={tagging.subject}
          onClose={() => {
            tagging.close()
          }}
        />
      )}
    </div>
  )
}
