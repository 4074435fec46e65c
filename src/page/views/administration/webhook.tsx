/** One webhook: its problems, a test, and its deliveries. */
import type { Webhook, WebhookDelivery } from '../../../resources/webhook.js'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { useObject } from '../../api/object.js'
import { Button } from '../../parts/button.js'
import { agoColumn, stateColumn, textColumn } from '../../parts/columns.js'
import { Facts } from '../../parts/facts.js'
import { LoadStatus } from '../../parts/load-status.js'
import { Owner } from '../../parts/owner.js'
import { formatCount } from '../../parts/quantity.js'
import { StateChip, type Tone } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { toast } from '../../parts/toasts.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
import { judgeWebhook } from './judge-webhook.js'

export function View({ params }: ViewProps) {
  const path = `/webhooks/${encodeURIComponent(params['id'] ?? '')}`
  const shown = useObject<Webhook>(path, { follow: 'webhook', id: Number(params['id']) })
  const deliveries = useObject<readonly WebhookDelivery[]>(`${path}/deliveries`)
  const testing = useMutation()
  const { value: webhook } = shown
  const test = (): Promise<void> =>
    testing.run(
      () => call<WebhookDelivery>('POST', `${path}/test`),
      ({ state, error }) => {
        toast(state === 'delivered' ? 'Delivered.' : `Not delivered: ${error ?? ''}.`)
        deliveries.reload()
      },
    )
  const judged = webhook && judgeWebhook(webhook)
  return (
    <>
      <ViewHead
        title={webhook?.name ?? 'Webhook'}
        beside={
          webhook && (
            <>
              {judged && <StateChip state={judged.words} tone={judged.tone} />}
              <Owner of={webhook} />
            </>
          )
        }
        back={{ href: '/administration/webhooks', title: 'Webhooks' }}
      >
        <Button icon="refresh" onClick={deliveries.reload}>
          Reload
        </Button>
        {webhook && mayWrite('webhook') && (
          <Button kind="main" isBusy={testing.isBusy} onClick={() => void test()}>
            Send a test
          </Button>
        )}
      </ViewHead>
      <LoadStatus of={shown} mutation={testing} />
      {webhook && <Panels webhook={webhook} deliveries={deliveries.value ?? []} />}
    </>
  )
}

interface PanelProps {
  readonly webhook: Webhook
  readonly deliveries: readonly WebhookDelivery[]
}

function Panels({ webhook, deliveries }: PanelProps) {
  const { url, types, filter, format, waiting, dropped, problems } = webhook
  return (
    <>
      {problems.map(({ code, message, remedy }) => (
        <p class="tone-bad" key={code}>
          {message}. {remedy}
        </p>
      ))}
      <section class="panel">
        <h2>What it is</h2>
        <Facts
          of={[
            ['Address', <code>{url}</code>],
            ['Events', types.join(', ')],
            ['Filter', filter === '' ? 'None' : <code>{filter}</code>],
            ['Form', format],
            ['Waiting', formatCount(waiting)],
            ['Dropped', formatCount(dropped)],
          ]}
        />
      </section>
      <section class="panel">
        <h2>Deliveries</h2>
        {deliveries.length === 0 ? (
          <p class="quiet">None yet.</p>
        ) : (
          <Table
            label="Deliveries of the webhook"
            rows={deliveries}
            columns={columns}
            sorting={{ title: 'Event', isDescending: true }}
          />
        )}
      </section>
    </>
  )
}

const tones: Readonly<Record<WebhookDelivery['state'], Tone>> = {
  waiting: 'busy',
  delivered: 'good',
  failed: 'bad',
  dropped: 'warn',
}

const columns: readonly Column<WebhookDelivery>[] = [
  {
    title: 'Event',
    width: '9rem',
    show: ({ id, type }) => `${id} ${type}`,
    sortBy: ({ id }) => id,
  },
  stateColumn('State', ({ state }) => state, {
    width: '8rem',
    toneOf: ({ state }) => tones[state],
  }),
  textColumn('Answer', ({ status, error, answer }) => {
    const what = error ?? answer ?? ''
    return status === null ? what : `${status} ${what}`
  }),
  {
    title: 'Attempts',
    width: '6rem',
    isEnd: true,
    from: 'medium',
    show: ({ attempts }) => formatCount(attempts),
    sortBy: ({ attempts }) => attempts,
  },
  agoColumn('Happened', ({ at }) => at, { from: 'medium' }),
]
