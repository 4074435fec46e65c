/** Webhooks: the addresses that events are posted to. A new secret is shown once. */
import { signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { webhookTypes, type Webhook } from '../../../resources/webhook.js'
import { labelsColumn, stateColumn, textColumn } from '../../parts/columns.js'
import { CheckField } from '../../parts/field.js'
import type { FormInputs } from '../../parts/input-form.js'
import { mayWrite } from '../../session/rights.js'
import { viewOf } from './administration-list.js'
import { SecretDialog } from './copy-box.js'
import type { FormExtras } from './edit-dialog.js'
import { judgeWebhook } from './judge-webhook.js'
import { useOwner } from './owner-field.js'

export const View = viewOf<Webhook>({
  title: 'Webhooks',
  path: '/webhooks',
  options: { follow: ['webhook'] },
  noun: 'webhook',
  mayWrite: () => mayWrite('webhook'),
  textOf: ({ name, url }) => `${name} ${url}`,
  linkOf: ({ id }) => `/administration/webhooks/${id}`,
  columns: [
    textColumn('Name', ({ name }) => name),
    stateColumn('State', (one) => judgeWebhook(one).words, {
      toneOf: (one) => judgeWebhook(one).tone,
      width: '8rem',
    }),
    textColumn('Address', ({ url }) => url, { from: 'medium' }),
    labelsColumn('Events', ({ types }) => types, { from: 'medium' }),
    textColumn('Organization', ({ organization }) => organization?.name ?? 'System administrator', {
      from: 'wide',
      sortBy: ({ organization }) => organization?.name ?? '',
    }),
  ],
  actions: {
    isChangeable: true,
    nameOf: ({ name }) => name,
    questionOf: ({ name }) => ({
      title: `Delete the webhook ${name}?`,
      text: 'Nothing is posted there any more, and its queued deliveries are deleted.',
      name,
    }),
  },
  edit: {
    titleOf: (before) => (before ? `Webhook ${before.name}` : 'New webhook'),
    inputs: listInputs,
    blank: { enabled: true },
    useExtras: useEvents,
    showCreated,
  },
  empty: {
    title: 'No webhooks yet',
    text: 'With one, what happens to the fleet is posted to your pager, chat or pipeline, signed and in order.',
  },
})

/** Users who create a webhook mostly want to be notified of problems. */
const typesAtFirst: Webhook['types'] = ['problem']

function useEvents(was: Webhook | null): FormExtras {
  const owner = useOwner('The system administrator: of all organizations')
  const { types, isSlack } = useMemo(
    () => ({
      types: webhookTypes.map((type) => ({
        type,
        isChosen: signal((was?.types ?? typesAtFirst).includes(type)),
      })),
      isSlack: signal(was?.format === 'slack'),
    }),
    [],
  )
  return {
    first: was === null && owner.field,
    last: (
      <>
        <fieldset class="pick">
          <legend class="field-label">Events</legend>
          {types.map(({ type, isChosen }) => (
            <CheckField key={type} label={eventTitles[type]} value={isChosen} />
          ))}
        </fieldset>
        <CheckField label="As a message for Slack" value={isSlack} />
      </>
    ),
    toBody: (body) => ({
      ...body,
      types: types.filter(({ isChosen }) => isChosen.value).map(({ type }) => type),
      format: isSlack.value ? 'slack' : 'json',
      ...(was === null && owner.read()),
    }),
    // The old secret and the rest of the old address are unknown.
    mayUndo: ({ secret, url }) => secret === undefined && url === was?.url,
  }
}

const eventTitles: Readonly<Record<Webhook['types'][number], string>> = {
  problem: 'Problems',
  agent: 'Caches and their agents',
  deployment: 'Deployments',
  rollout: 'Rollouts',
  invalidation: 'Invalidations',
  apilog: 'Calls of the API that change something',
}

function listInputs(isNew: boolean): FormInputs {
  return {
    name: { label: 'Name', required: true },
    url: {
      label: 'Address',
      type: 'url',
      required: true,
      hint: isNew
        ? 'https; what follows the host is kept as a secret'
        : 'Leave it unchanged to keep the whole address',
    },
    filter: {
      label: 'Filter',
      hint: 'As lists are filtered: stateName=Failing,Down; empty: all of these events',
    },
    // The coordinator makes the secret of a new webhook, which is shown once.
    ...(!isNew && {
      secret: {
        label: 'Secret',
        type: 'password',
        autoComplete: 'new-password',
        hint: 'Of the signature; empty: it stays',
      } as const,
    }),
    enabled: { label: 'Events are sent', type: 'check' },
  }
}

function showCreated({ name, secret }: Webhook, onClose: () => void) {
  return (
    <SecretDialog
      title={`Webhook ${name}`}
      label="Secret"
      secret={secret ?? ''}
      first={
        <p>Who checks the signature of what is posted needs it. It is shown only this once.</p>
      }
      onClose={onClose}
    />
  )
}
