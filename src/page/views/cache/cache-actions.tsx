/** Actions on a cache as a whole: tags, drain, unlock, delete. */
import type { Agent } from '../../../resources/agent.js'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { Button } from '../../parts/button.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { ErrorNote } from '../../parts/error-note.js'
import { toast } from '../../parts/toasts.js'
import { useDialog } from '../../parts/use-dialog.js'
import { useDelete } from '../../parts/use-delete.js'
import { mayRead } from '../../session/rights.js'
import { DrainAction } from './drain-action.js'
import { TagsDialog } from './tags-dialog.js'
import { UnlockText } from './unlock-text.js'

export interface CacheActionsProps {
  readonly agent: Agent
  readonly onChange: () => void
}

export function CacheActions({ agent, onChange }: CacheActionsProps) {
  const mutation = useMutation()
  const tagging = useDialog<Agent>()
  const deletion = useDelete()

  const unlock = async (): Promise<void> => {
    // Read again: the difference varies with the contents of the cache and with deploys.
    const now = await call<Agent>('GET', `/agents/${agent.id}`)
    const isSure = await confirmDestruction({
      title: `Unlock ${agent.name}?`,
      text: <UnlockText difference={(now.ok ? now.value : agent).config.difference} />,
      verb: 'Unlock',
      name: agent.name,
    })
    if (!isSure) return
    await mutation.run(
      () => call('PUT', `/agents/${agent.id}/unlock`),
      () => {
        toast(`${agent.name} is unlocked.`)
        onChange()
      },
    )
  }

  const remove = (): Promise<void> =>
    deletion.ask({
      path: `/agents/${agent.id}`,
      name: agent.name,
      home: '/caches',
      text: 'The agent is removed and its key revoked; the cache continues to serve. To return it needs a join token.',
      remove: () => deleteAgent(agent),
    })

  return (
    <>
      {mayRead('tag') && (
        <Button
          icon="tag"
          onClick={() => {
            tagging.open(agent)
          }}
        >
          Tags
        </Button>
      )}
      {agent.lockedBecause !== null && (
        <Button kind="main" isBusy={mutation.isBusy} onClick={() => void unlock()}>
          Unlock
        </Button>
      )}
      <DrainAction agent={agent} onChange={onChange} />
      <Button icon="remove" isBusy={deletion.isBusy} onClick={() => void remove()}>
        Delete
      </Button>
      {mutation.error && <ErrorNote error={mutation.error} />}
      {deletion.error && <ErrorNote error={deletion.error} />}
      {tagging.subject && <TagsDialog agent={agent} onChange={onChange} onClose={tagging.close} />}
    </>
  )
}

/** Deleting a cache that serves groups needs a second confirmation. */
async function deleteAgent({ id, name }: Agent) {
  const outcome = await call('DELETE', `/agents/${id}`)
  if (outcome.ok || outcome.error.status !== 409) return outcome
  const isSure = await confirmDestruction({
    title: `Delete ${name} anyway?`,
    text: 'VCL groups are placed on it. They move to other caches that fit, if there are any.',
    verb: 'Delete anyway',
  })
  return isSure ? call('DELETE', `/agents/${id}?force=true`) : outcome
}
