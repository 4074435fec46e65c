/** Drains a cache before maintenance of its host, with a reason. */
import { useSignal } from '@preact/signals'
import type { Agent } from '../../../resources/agent.js'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/error-note.js'
import { TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { toast } from '../../parts/toasts.js'
import { useDialog } from '../../parts/use-dialog.js'
import type { CacheActionsProps } from './cache-actions.js'

export function DrainAction({ agent, onChange }: CacheActionsProps) {
  const mutation = useMutation()
  const dialog = useDialog<Agent>()
  const undrain = (): Promise<void> =>
    mutation.run(
      () => call('PUT', `/agents/${agent.id}/undrain`),
      () => {
        toast(`${agent.name} is no longer drained.`)
        onChange()
      },
    )
  return (
    <>
      {agent.draining === null ? (
        <Button
          onClick={() => {
            dialog.open(agent)
          }}
        >
          Drain…
        </Button>
      ) : (
        <Button isBusy={mutation.isBusy} onClick={() => void undrain()}>
          Undrain
        </Button>
      )}
      {mutation.error && <ErrorNote error={mutation.error} />}
      {dialog.subject && <DrainDialog agent={agent} onChange={onChange} onClose={dialog.close} />}
    </>
  )
}

interface DrainDialogProps extends CacheActionsProps {
  readonly onClose: () => void
}

function DrainDialog({ agent, onChange, onClose }: DrainDialogProps) {
  const mutation = useMutation()
  const reason = useSignal('')
  const drain = (): void =>
    void mutation.run(
      () => call('PUT', `/agents/${agent.id}/drain`, { body: { reason: reason.value } }),
      () => {
        toast(`${agent.name} is drained.`)
        onChange()
        onClose()
      },
    )
  return (
    <Dialog title={`Drain ${agent.name}`} onClose={onClose}>
      <Form mutation={mutation} verb="Drain" names={['reason']} onCancel={onClose} onSubmit={drain}>
        <p>
          Its groups move to other caches that fit and have room, and serve there before they go
          here. It gets no new ones until you end the drain.
        </p>
        <TextField
          label="Reason"
          name="reason"
          value={reason}
          error={mutation.error}
          hint="Shown to everyone who can see the cache."
          autoFocus
        />
      </Form>
    </Dialog>
  )
}
