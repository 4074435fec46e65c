/** Makes a join token; shows it this once, with the commands that enrol a host. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { useDeed } from '../../api/deed.js'
import type { MadeJoinToken } from '../../api/join-token.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { mayRead } from '../../session/rights.js'
import { CopyBox } from './copy-box.js'
import { isLoopback, startAgent, startAgentBySystemd, writeTokenFile } from './enrolment.js'
import { toExpiry } from './lifetime.js'
import { OwnerField, readOwner } from './owner-field.js'

export interface JoinTokenDialogProps {
  readonly onMade: () => void
  readonly onClose: () => void
}

export function JoinTokenDialog({ onMade, onClose }: JoinTokenDialogProps) {
  const made = useSignal<MadeJoinToken | null>(null)
  if (made.value) return <MadeDialog made={made.value} onClose={onClose} />
  return (
    <Dialog title="New join token" onClose={onClose}>
      <JoinTokenForm
        onCancel={onClose}
        onMade={(token) => {
          made.value = token
          onMade()
        }}
      />
    </Dialog>
  )
}

function MadeDialog({
  made,
  onClose,
}: {
  readonly made: MadeJoinToken
  readonly onClose: () => void
}) {
  const enrolment = {
    origin: location.origin,
    token: made.token,
    tags: made.tags.map(({ name }) => name),
  }
  return (
    <Dialog title={`Join token ${made.label}`} onClose={onClose} isWide>
      <div class="stack">
        <p>This is the only time that it is shown. On each host that is to join, as root:</p>
        {isLoopback(location.hostname) && (
          <p class="quiet">
            You reach the coordinator by {location.hostname}, which is another machine there: put
            its name in the commands.
          </p>
        )}
        <CopyBox title="Token" text={made.token} />
        <CopyBox
          title="1. Keep the token in a file"
          hint="Needed once; afterwards the agent has a key of its own."
          text={writeTokenFile(enrolment)}
        />
        <CopyBox title="2. Start the agent by systemd" text={startAgentBySystemd(enrolment)} />
        <CopyBox title="Or by hand, as user cachefleet" text={startAgent(enrolment)} />
        <div class="dialog-foot">
          <Button kind="main" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

interface JoinTokenFormProps {
  readonly onMade: (token: MadeJoinToken) => void
  readonly onCancel: () => void
}

function JoinTokenForm({ onMade, onCancel }: JoinTokenFormProps) {
  const deed = useDeed()
  const label = useSignal('')
  const uses = useSignal('1')
  const days = useSignal('')
  const tags = useSignal('')
  const owner = useSignal('')
  const submit = (): void => {
    const names = tags.value.split(',').flatMap((name) => name.trim() || [])
    const body = {
      ...{ label: label.value, maxUses: Number(uses.value) },
      // What is no number of days the API refuses: it must not become a token that never ends.
      expires: days.value === '' ? null : (toExpiry(days.value, Date.now()) ?? days.value),
      ...(names.length > 0 ? { tags: names } : {}),
      ...readOwner(owner),
    }
    void deed.run(() => call<MadeJoinToken>('POST', '/jointokens', { body }), onMade)
  }
  const { error } = deed
  return (
    <Form deed={deed} verb="Make" names={names} onSubmit={submit} onCancel={onCancel}>
      <TextField
        label="Label"
        name="label"
        hint="The hosts that it is for"
        value={label}
        error={error}
        required
        autoFocus
      />
      <TextField
        label="Uses"
        name="maxUses"
        type="number"
        hint="How many hosts it lets in"
        value={uses}
        error={error}
        required
      />
      <TextField
        label="Days until it ends"
        name="expires"
        type="number"
        hint="Empty: never"
        value={days}
        error={error}
      />
      {mayRead('tag') && (
        <TextField
          label="Tags"
          name="tags"
          hint="Names with commas between them; the agents get them, and a new name makes the tag"
          value={tags}
          error={error}
        />
      )}
      <OwnerField value={owner} none="All organizations share the hosts" />
    </Form>
  )
}

const names = ['label', 'maxUses', 'expires', 'tags']
