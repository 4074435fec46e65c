/** What can be done to a cache as a whole: its tags, its lock, its end. */
import { useSignal } from '@preact/signals'
import type { Agent } from '../../../resources/agent.js'
import { call } from '../../api/call.js'
import { useDeed } from '../../api/deed.js'
import { Button } from '../../parts/button.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { ErrorNote } from '../../parts/error-note.js'
import { toast } from '../../parts/toasts.js'
import { useDelete } from '../../parts/use-delete.js'
import { mayRead } from '../../session/rights.js'
import { TagsDialog } from './tags-dialog.js'
import { UnlockText } from './unlock-text.js'

export interface CacheDeedsProps {
  readonly agent: Agent
  readonly onChange: () => void
}

export function CacheDeeds({ agent, onChange }: CacheDeedsProps) {
  const deed = useDeed()
  const isTagging = useSignal(false)
  const deletion = useDelete()

  const unlock = async (): Promise<void> => {
    // What it would change moves with what the cache holds and with what is deployed.
    const now = await call<Agent>('GET', `/agents/${agent.id}`)
    const isSure = await confirmDestruction({
      title: `Unlock ${agent.name}?`,
      text: <UnlockText difference={(now.ok ? now.value : agent).config.difference} />,
      verb: 'Unlock',
      name: agent.name,
    })
    if (!isSure) return
    await deed.run(
      () => call('PUT', `/agents/${agent.id}/unlock`),
      () => {
        toast(`${agent.name} is unlocked.`)
        onChange()
      },
    )
  }

  const remove = (): Promise<void> =>
    deletion.ask({
      ...{ path: `/agents/${agent.id}`, name: agent.name, home: '/caches' },
      text: 'It is forgotten and its key revoked; the cache itself serves on. To come back it needs a join token.',
      remove: () => deleteAgent(agent),
    })

  return (
    <>
      {mayRead('tag') && (
        <Button
          icon="tag"
          onClick={() => {
            isTagging.value = true
          }}
        >
          Tags
        </Button>
      )}
      {agent.lockedBecause !== null && (
        <Button kind="main" isBusy={deed.isBusy} onClick={() => void unlock()}>
          Unlock
        </Button>
      )}
      <Button icon="remove" isBusy={deletion.isBusy} onClick={() => void remove()}>
        Delete
      </Button>
      {deed.error && <ErrorNote error={deed.error} />}
      {deletion.error && <ErrorNote error={deletion.error} />}
      {isTagging.value && (
        <TagsDialog
          agent={agent}
          onChange={onChange}
          onClose={() => {
            isTagging.value = false
          }}
        />
      )}
    </>
  )
}

/** A cache that serves groups is only forgotten when that is said once more. */
async function deleteAgent({ id, name }: Agent) {
  const outcome = await call('DELETE', `/agents/${id}`)
  if (outcome.ok || outcome.error.status !== 409) return outcome
  const isSure = await confirmDestruction({
    title: `Delete ${name} all the same?`,
    text: 'VCL groups are placed on it. They move to other caches that fit, if there are any.',
    verb: 'Delete all the same',
  })
  return isSure ? call('DELETE', `/agents/${id}?force=true`) : outcome
}
