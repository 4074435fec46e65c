/** Join tokens for agents of the coordinator's own process: never shown, and at most two are kept per label. */
import type { Actor } from '../../resources/permission.js'
import type { StateService } from '../service.js'
import { createJoinToken, deleteJoinToken } from './join-tokens.js'

/** Account name of the tokens. */
const ownActor: Actor = {
  accountId: 0,
  accountName: 'cachefleetd',
  sessionId: 0,
  organizationId: null,
  role: 'system',
  grants: {},
}

/**
 * An agent that keeps being refused, for example because its name is taken by another host, asks every few seconds: a new token
 * replaces the second newest, because agents may still be using the newest.
 */
export function createOwnTokens(
  service: StateService,
): (label: string, maxUses: number) => Promise<string> {
  const made = new Map<string, readonly number[]>()
  return async (label, maxUses) => {
    const { token, record } = await createJoinToken(service, ownActor, { label, maxUses })
    const [last, ...earlier] = made.get(label) ?? []
    made.set(label, last === undefined ? [record.id] : [record.id, last])
    // It may have been deleted already.
    for (const id of earlier)
      await deleteJoinToken(service, { id }, ownActor).catch(() => undefined)
    return token
  }
}
