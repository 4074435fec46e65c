/** Join tokens for agents of the coordinator's own process: nobody is shown them, and at most one of a label is left. */
import type { Actor } from '../../../domain/permission.js'
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
 * A new one replaces the one before it: an agent that is refused for long, such as one whose name another host's agent has,
 * asks every few seconds.
 */
export function createOwnTokens(
  service: StateService,
): (label: string, maxUses: number) => Promise<string> {
  const made = new Map<string, number>()
  return async (label, maxUses) => {
    const { token, record } = await createJoinToken(service, ownActor, { label, maxUses })
    const earlier = made.get(label)
    made.set(label, record.id)
    // Somebody may have deleted it already.
    if (earlier !== undefined)
      await deleteJoinToken(service, ownActor, earlier).catch(() => undefined)
    return token
  }
}
