/** Join tokens for agents of the coordinator's own process: nobody is shown them, and at most two of a label are left. */
import type { Actor } from '../../resources/permission.js'
import type { StateService } from '../service.js'
import { createJoinToken, deleteJoinToken } from './join-tokens.js'

/** In whose name they are made. */
const ownActor: Actor = {
  accountId: 0,
  accountName: 'cachefleetd',
  sessionId: 0,
  organizationId: null,
  role: 'system',
  grants: {},
}

/**
 * An agent that is refused for long, such as one whose name another host's agent has, asks every few seconds: a new one
 * replaces the one before the last, since agents may be on their way with the last one.
 */
export function createOwnTokens(
  service: StateService,
): (label: string, maxUses: number) => Promise<string> {
  const made = new Map<string, readonly number[]>()
  return async (label, maxUses) => {
    const { token, record } = await createJoinToken(service, ownActor, { label, maxUses })
    const [last, ...earlier] = made.get(label) ?? []
    made.set(label, last === undefined ? [record.id] : [record.id, last])
    // Somebody may have deleted it already.
    for (const id of earlier)
      await deleteJoinToken(service, { id }, ownActor).catch(() => undefined)
    return token
  }
}
