/** Cancels a running deploy while another call waits for its result. */
import type { Group } from '../../../resources/vclgroup.js'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { Button } from '../../parts/button.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { ErrorNote } from '../../parts/error-note.js'
import { toast } from '../../parts/toasts.js'

interface CancelDeployProps {
  readonly group: Group
  readonly reload: () => void
}

export function CancelDeploy({ group, reload }: CancelDeployProps) {
  const mutation = useMutation()
  const cancel = async (): Promise<void> => {
    const isSure = await confirmDestruction({
      title: `Cancel the deploy of ${group.name}?`,
      text: 'Caches keep serving what they serve now. A deploy that has switched already cannot be cancelled.',
      verb: 'Cancel deploy',
    })
    if (!isSure) return
    await mutation.run(
      () => call<Group>('PUT', `/vclgroups/${group.id}/cancel`),
      () => {
        toast(`Deploy of ${group.name} cancelled.`)
      },
    )
    reload()
  }
  return (
    <>
      <Button isBusy={mutation.isBusy} onClick={() => void cancel()}>
        Cancel deploy
      </Button>
      {mutation.error && <ErrorNote error={mutation.error} />}
    </>
  )
}
