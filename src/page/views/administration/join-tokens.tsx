/** Join tokens: what lets new agents in. One is shown once, with the commands that enrol a host. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { useDeed } from '../../api/deed.js'
import type { JoinToken, MadeJoinToken } from '../../api/join-token.js'
import { useList } from '../../api/list.js'
import { labelsColumn, textColumn } from '../../parts/columns.js'
import { Dialog } from '../../parts/dialog.js'
import { Empty } from '../../parts/empty.js'
import { Form } from '../../parts/form.js'
import { readDraft, TextInputs, useDraft } from '../../parts/inputs.js'
import { ListView, type Asked, type RowDeeds } from '../../parts/list-view.js'
import type { Column } from '../../parts/table.js'
import { mayRead } from '../../session/rights.js'
import { AdministrationHead, endColumn } from './administration-head.js'
import { CopyBox, SecretDialog } from './copy-box.js'
import { isLoopback, startAgent, startAgentBySystemd, writeTokenFile } from './enrolment.js'
import { toExpiry } from './lifetime.js'
import { OwnerField, readOwner } from './owner-field.js'

export function View() {
  return (
    <ListView
      title="Join tokens"
      Head={AdministrationHead}
      list={useList<JoinToken>('/jointokens', { follow: ['agent'] })}
      textOf={({ label }) => label}
      columns={columns}
      noun="join token"
      deeds={deeds}
      dialog={(asked) => <JoinTokenDialog {...asked} />}
      empty={
        <Empty icon="cache" title="No join tokens yet">
          <p>Make one, then start an agent beside a cache with the command that is shown.</p>
        </Empty>
      }
    />
  )
}

const columns: readonly Column<JoinToken>[] = [
  textColumn('Label', ({ label }) => label),
  {
    ...{ title: 'Used', width: '7rem', isEnd: true },
    show: ({ uses, maxUses }) => `${uses} of ${maxUses}`,
    sortBy: ({ uses }) => uses,
  },
  labelsColumn('Tags', ({ tags }) => tags.map(({ name }) => name), { from: 'medium' }),
  textColumn('For', ({ organization }) => organization?.name ?? 'All organizations', {
    ...{ from: 'wide', sortBy: ({ organization }) => organization?.name ?? '' },
  }),
  endColumn('Ends', ({ expires }) => expires, { from: 'medium' }),
]

const deeds: RowDeeds<JoinToken> = {
  ...{ path: '/jointokens', verb: 'Revoke', done: 'Revoked.' },
  nameOf: ({ label }) => label,
  questionOf: ({ label }) => ({
    title: `Revoke the join token ${label}?`,
    text: 'No host is enrolled with it any more. Agents that it let in stay.',
    name: label,
  }),
}

function JoinTokenDialog({ onSaved, onClose }: Asked<JoinToken>) {
  const made = useSignal<MadeJoinToken | null>(null)
  const deed = useDeed()
  const draft = useDraft({ label: '', maxUses: '1', expires: '', tags: '', owner: '' })
  if (made.value) return <MadeDialog made={made.value} onClose={onClose} />
  const submit = (): void => {
    const { label, maxUses, expires, tags, owner } = readDraft(draft)
    const names = tags.split(',').flatMap((name) => name.trim() || [])
    const body = {
      ...{ label, maxUses: Number(maxUses) },
      // What is no number of days the API refuses: it must not become a token that never ends.
      expires: expires === '' ? null : (toExpiry(expires, Date.now()) ?? expires),
      ...(names.length > 0 ? { tags: names } : {}),
      ...readOwner(owner),
    }
    void deed.run(
      () => call<MadeJoinToken>('POST', '/jointokens', { body }),
      (token) => {
        made.value = token
        onSaved()
      },
    )
  }
  const names = ['label', 'maxUses', 'expires', 'tags']
  return (
    <Dialog title="New join token" onClose={onClose}>
      <Form {...{ deed, names }} verb="Make" onSubmit={submit} onCancel={onClose}>
        <TextInputs of={inputs} draft={draft} error={deed.error} />
        {mayRead('tag') && (
          <TextInputs of={tagInputs} draft={draft} error={deed.error} isFocused={false} />
        )}
        <OwnerField value={draft.owner} none="All organizations share the hosts" />
      </Form>
    </Dialog>
  )
}

const inputs = {
  label: { label: 'Label', hint: 'The hosts that it is for', required: true },
  maxUses: { label: 'Uses', type: 'number', hint: 'How many hosts it lets in', required: true },
  expires: { label: 'Days until it ends', type: 'number', hint: 'Empty: never' },
} as const

const tagInputs = {
  tags: {
    label: 'Tags',
    hint: 'Names with commas between them; the agents get them, and a new name makes the tag',
  },
} as const

interface MadeDialogProps {
  readonly made: MadeJoinToken
  readonly onClose: () => void
}

function MadeDialog({ made: { token, label, tags }, onClose }: MadeDialogProps) {
  const { origin, hostname } = location
  const enrolment = { origin, token, tags: tags.map(({ name }) => name) }
  const first = (
    <>
      <p>This is the only time that it is shown. On each host that is to join, as root:</p>
      {isLoopback(hostname) && (
        <p class="quiet">
          You reach the coordinator by {hostname}, which is another machine there: put its name in
          the commands.
        </p>
      )}
    </>
  )
  return (
    <SecretDialog {...{ title: `Join token ${label}`, secret: token, first, onClose }} isWide>
      <CopyBox
        title="1. Keep the token in a file"
        hint="Needed once; afterwards the agent has a key of its own."
        text={writeTokenFile(enrolment)}
      />
      <CopyBox title="2. Start the agent by systemd" text={startAgentBySystemd(enrolment)} />
      <CopyBox title="Or by hand, as user cachefleet" text={startAgent(enrolment)} />
    </SecretDialog>
  )
}
