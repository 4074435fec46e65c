/** One request of the log. */
import { Link } from 'wouter-preact'
import { Dialog } from '../../parts/dialog.js'
import { Facts } from '../../parts/facts.js'
import { formatBytes } from '../../parts/quantity.js'
import { StateChip } from '../../parts/state-chip.js'
import { mayRead } from '../../session/rights.js'
import {
  formatBackend,
  formatMoment,
  formatMs,
  formatText,
  toneOfStatus,
} from './format-request.js'
import { RequestTimeline } from './request-timeline.js'
import type { LogLine } from './use-log.js'

interface RequestDialogProps {
  readonly request: LogLine
  readonly onClose: () => void
}

export function RequestDialog({ request, onClose }: RequestDialogProps) {
  const { at, agent, vclGroup, method, host, url, status, handling, bytes } = request
  const { ttfbMs, durationMs, client, xid, records } = request
  const title = formatText(`${method} ${host}${url}`)
  return (
    <Dialog
      title={title.length > maxTitleLength ? `${title.slice(0, maxTitleLength)}…` : title}
      onClose={onClose}
      isWide
    >
      <Facts
        of={[
          ['Method', formatText(method)],
          ['Host', formatText(host)],
          ['URL', <code>{formatText(url)}</code>],
          ['Status', <StateChip state={String(status)} tone={toneOfStatus(status)} />],
          ['Handling', handling],
          ['Backend', formatBackend(request)],
          [
            'Time',
            <time dateTime={at} title={at}>
              {formatMoment(at)}
            </time>,
          ],
          ['First byte after', formatMs(ttfbMs)],
          ['Done after', formatMs(durationMs)],
          ['Size', formatBytes(bytes)],
          ['Client', formatText(client)],
          ['Cache', <Link href={`/caches/${agent.id}`}>{formatText(agent.name)}</Link>],
          ['Group', vclGroup && <GroupName of={vclGroup} />],
          ['Transaction', xid],
        ]}
      />
      {records ? (
        <RequestTimeline of={records} leftOut={request.recordsLeftOut ?? 0} />
      ) : (
        <p class="quiet">Its records are kept with “Whole records”, from then on.</p>
      )}
    </Dialog>
  )
}

/** The full URL is shown below. */
const maxTitleLength = 80

function GroupName({ of: { id, name } }: { readonly of: NonNullable<LogLine['vclGroup']> }) {
  return mayRead('vclgroup') ? (
    <Link href={`/groups/${id}`}>{formatText(name)}</Link>
  ) : (
    <>{formatText(name)}</>
  )
}
