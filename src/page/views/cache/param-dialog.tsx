/** One parameter: its description, its value, and a reset to its default. */
import { useSignal } from '@preact/signals'
import type { Agent } from '../../../resources/agent.js'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { notifyOutcome } from '../../parts/notify.js'
import { toast } from '../../parts/toasts.js'
import { joinLines, toUndoValue, type ParameterRow } from './engine-rows.js'

interface ParamDialogProps {
  readonly agent: Agent
  readonly parameter: ParameterRow
  readonly isChangeable: boolean
  readonly onChange: () => void
  readonly onClose: () => void
}

export function ParamDialog(props: ParamDialogProps) {
  const { agent, parameter, isChangeable, onChange, onClose } = props
  const { id: name, unit } = parameter
  const mutation = useMutation()
  const value = useSignal(parameter.value)
  const before = toUndoValue(parameter)

  const put = (wanted: string | null) =>
    call('PUT', `/agents/${agent.id}/params/${encodeURIComponent(name)}`, {
      body: { value: wanted },
    })
  const undo = async (): Promise<void> => {
    const outcome = await put(before)
    notifyOutcome(outcome, `${name} is as it was.`)
    onChange()
  }
  const save = (wanted: string | null): void =>
    void mutation.run(
      () => put(wanted),
      () => {
        toast(wanted === null ? `${name} is at its default.` : `${name} is ${wanted}.`, {
          undo: () => void undo(),
        })
        onChange()
        onClose()
      },
    )

  return (
    <Dialog title={name} onClose={onClose}>
      <div class="stack">
        <p class="cache-words">{joinLines(parameter.description)}</p>
        <p class="quiet cache-words">
          Default: {parameter.default} {unit}
        </p>
        {isChangeable && (
          <Form
            mutation={mutation}
            verb="Save"
            names={['value']}
            onCancel={onClose}
            onSubmit={() => {
              save(value.value)
            }}
          >
            <TextField
              label={unit === '' ? 'Value' : `Value (${unit})`}
              name="value"
              value={value}
              error={mutation.error}
              hint="It is kept: also after the cache starts again."
              autoFocus
            />
            {parameter.isChanged && (
              <div>
                <Button
                  icon="back"
                  isBusy={mutation.isBusy}
                  onClick={() => {
                    save(null)
                  }}
                >
                  Reset to the default
                </Button>
              </div>
            )}
          </Form>
        )}
      </div>
    </Dialog>
  )
}
