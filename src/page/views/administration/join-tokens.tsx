/** Join tokens, which let new agents enrol. A new token is shown once, with the commands that enrol a host. */
import type { JoinToken, CreatedJoinToken } from '../../../resources/join-token.js'
import { labelsColumn, textColumn } from '../../parts/columns.js'
import type { FormInputs } from '../../parts/input-form.js'
import { mayRead } from '../../session/rights.js'
import { endColumn } from './administration-head.js'
import { viewOf } from './administration-list.js'
import { CopyBox, SecretDialog } from './copy-box.js'
import type { FormExtras } from './edit-dialog.js'
import { enrolHost, isLoopback, startAgent, writeTokenFile } from './enrolment.js'
import { toExpiry } from './lifetime.js'
import { useOwner } from './owner-field.js'

export const View = viewOf<JoinToken>({
  title: 'Join tokens',
  path: '/jointokens',
  options: { follow: ['agent'] },
  noun: 'join token',
  // Only users who may create join tokens see the view.
  mayWrite: () => true,
  textOf: ({ label }) => label,
  columns: [
    textColumn('Label', ({ label }) => label),
    {
      title: 'Used',
      width: '7rem',
      isEnd: true,
      show: ({ uses, maxUses }) => `${uses} of ${maxUses}`,
      sortBy: ({ uses }) => uses,
    },
    labelsColumn('Tags', ({ tags }) => tags.map(({ name }) => name), { from: 'medium' }),
    textColumn('For', ({ organization }) => organization?.name ?? 'All organizations', {
      from: 'wide',
      sortBy: ({ organization }) => organization?.name ?? '',
    }),
    endColumn('Expires', ({ expires }) => expires, { from: 'medium' }),
  ],
  actions: {
    verb: 'Revoke',
    done: 'Revoked.',
    nameOf: ({ label }) => label,
    questionOf: ({ label }) => ({
      title: `Revoke the join token ${label}?`,
      text: 'It enrols no more hosts. Agents that enrolled with it are kept.',
      name: label,
    }),
  },
  edit: {
    titleOf: () => 'New join token',
    inputs: listInputs,
    blank: { maxUses: 1 },
    useExtras: useSharing,
    showCreated,
  },
  empty: {
    icon: 'cache',
    title: 'No join tokens yet',
    text: 'Create one, then enrol the host of a cache with the command that is shown.',
  },
})

function listInputs(): FormInputs {
  const tags = {
    label: 'Tags',
    hint: 'Names with commas between them; the agents get them, and a new name creates the tag',
  }
  return {
    label: { label: 'Label', hint: 'The hosts that it is for', required: true },
    maxUses: { label: 'Uses', type: 'number', hint: 'How many hosts it may enrol', required: true },
    expires: {
      label: 'Expires after (days)',
      type: 'number',
      hint: 'Empty: never',
      isNullable: true,
    },
    ...(mayRead('tag') && { tags }),
  }
}

function useSharing(): FormExtras {
  const owner = useOwner('All organizations share the hosts')
  return {
    last: owner.field,
    toBody: ({ expires, tags, ...body }) => {
      const names = String(tags ?? '')
        .split(',')
        .flatMap((name) => name.trim() || [])
      return {
        ...body,
        // The API refuses text that is not a number of days: it must not become a token that never expires.
        expires: expires === null ? null : (toExpiry(String(expires), Date.now()) ?? expires),
        ...(names.length > 0 ? { tags: names } : {}),
        ...owner.read(),
      }
    },
  }
}

function showCreated({ token, label, tags }: CreatedJoinToken, onClose: () => void) {
  const { origin, hostname } = location
  const enrolment = { origin, token, tags: tags.map(({ name }) => name) }
  const first = (
    <>
      <p>It is shown only this once. On each host to enrol, run as root:</p>
      {isLoopback(hostname) && (
        <p class="quiet">
          You reach the coordinator by {hostname}, which is another machine there: put its name in
          the commands.
        </p>
      )}
    </>
  )
  return (
    <SecretDialog
      title={`Join token ${label}`}
      secret={token}
      first={first}
      onClose={onClose}
      isWide
    >
      <CopyBox
        title="Enrol the cache that runs there, as a service"
        hint="If something is wrong it says so in one line and changes nothing."
        text={enrolHost(enrolment)}
      />
      <CopyBox
        title="Or by hand: 1. Keep the token in a file"
        hint="Needed once; afterwards the agent has a key of its own."
        text={writeTokenFile(enrolment)}
      />
      <CopyBox
        title="2. Start the agent by hand, as user cachefleet"
        text={startAgent(enrolment)}
      />
    </SecretDialog>
  )
}
