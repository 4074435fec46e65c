/** Deploys with its own waves instead of the group's policy. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { GivenPolicy } from '../../../../resources/rollout.js'
import type { Group } from '../../../../resources/vclgroup.js'
import { Button } from '../../../parts/button.js'
import { Dialog } from '../../../parts/dialog.js'
import { Form } from '../../../parts/form.js'
import { isAbout } from '../../../parts/is-about.js'
import type { Verbs } from '../use-verbs.js'
import { listPolicyNames, PolicyInputs } from './policy-inputs.js'
import { usePolicyForm } from './use-policy-form.js'

interface DeployInWavesProps {
  readonly group: Group
  readonly verbs: Verbs
  readonly deploy: (rollout: GivenPolicy) => void
}

export function DeployInWaves({ group, verbs, deploy }: DeployInWavesProps) {
  const isOpen = useSignal(false)
  const form = usePolicyForm(group.rollout)
  const { error } = verbs
  const isRefused = error?.status === 400 && isAbout(error, 'rollout')
  // Errors are shown at their inputs, so the form reopens.
  useEffect(() => {
    if (isRefused) isOpen.value = true
  }, [error])
  const close = (): void => {
    isOpen.value = false
    if (isRefused) verbs.forget()
  }
  return (
    <>
      <div>
        <Button
          isBusy={verbs.isBusy}
          onClick={() => {
            isOpen.value = true
          }}
        >
          {group.rollout ? 'Deploy in other waves…' : 'Deploy in waves…'}
        </Button>
      </div>
      {isOpen.value && (
        <Dialog title="Deploy in waves" onClose={close} isWide>
          <Form
            mutation={verbs}
            verb="Deploy"
            names={listPolicyNames(form)}
            onCancel={close}
            onSubmit={() => {
              isOpen.value = false
              deploy(form.read())
            }}
          >
            <p class="quiet">For this deploy only: the policy of the group stays as it is.</p>
            <PolicyInputs form={form} error={error} owner={group.organization} />
          </Form>
        </Dialog>
      )}
    </>
  )
}
