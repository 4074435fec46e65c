/** The tags assigned to a cache; tags that its agent sends itself stay. */
import { useSignal } from '@preact/signals'
import { Link } from 'wouter-preact'
import { agent as agentResource, type Agent } from '../../../resources/agent.js'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { useList } from '../../api/list.js'
import type { Reference } from '../../../resources/resource.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Form } from '../../parts/form.js'
import { Inputs } from '../../parts/input-form.js'
import { PickField } from '../../parts/pick-field.js'
import { usePlainForm } from '../../parts/plain-fields.js'
import { notifyOutcome } from '../../parts/notify.js'
import { toast } from '../../parts/toasts.js'

interface TagsDialogProps {
  readonly agent: Agent
  readonly onChange: () => void
  readonly onClose: () => void
}

export function TagsDialog({ agent, onChange, onClose }: TagsDialogProps) {
  const { rows, phase, error, reload } = useList<Reference>('/tags', { query: { sort: 'name' } })
  const mutation = useMutation()
  const sent = agent.tags.filter((tag) => tag.static)
  const before = agent.tags.filter((tag) => !tag.static).map(({ id }) => id)
  const chosen = useSignal<readonly number[]>(before)
  const options = rows.filter(({ id }) => !sent.some((tag) => tag.id === id))

  const form = usePlainForm(agentResource, agent)
  const plain = form.read()
  const save = (ids: readonly number[], fields: object) =>
    call('PUT', `/agents/${agent.id}`, { body: { ...fields, tags: ids.map((id) => ({ id })) } })
  const undo = async (): Promise<void> => {
    const outcome = await save(before, plain)
    notifyOutcome(outcome, 'The tags are as they were.')
    onChange()
  }

  return (
    <Dialog title={`Tags of ${agent.name}`} onClose={onClose}>
      <Form
        mutation={mutation}
        verb="Save"
        names={form.names}
        onCancel={onClose}
        onSubmit={() =>
          void mutation.run(
            () => save(chosen.value, form.read()),
            () => {
              toast('The tags are saved.', { undo: () => void undo() })
              onChange()
              onClose()
            },
          )
        }
      >
        {error && <ErrorNote error={error} onRetry={reload} />}
        {phase === 'ready' && !error && options.length === 0 && (
          <p>
            No other tags exist yet: <Link href="/tags">make one</Link>.
          </p>
        )}
        <Inputs form={form} error={mutation.error} />
        <PickField label="Assigned" options={options} value={chosen} />
        {sent.length > 0 && (
          <p class="quiet">Sent by the cache: {sent.map(({ name }) => name).join(', ')}</p>
        )}
      </Form>
    </Dialog>
  )
}
