/**
 * Watches the sessions of open calls. All are checked together, when a hint says that credentials changed and every 2 s,
 * so that calls of revoked sessions end within 5 s (docs/behaviour.md, Tokens) and a check takes two queries for all.
 */
import type { Logger } from 'pino'
import type { Subscription } from '../bus/bus.js'
import { credentialsChangedSubject } from '../bus/subjects.js'
import type { Actor } from '../../resources/permission.js'
import { inPieces } from '../store/in-pieces.js'
import { readSessions } from './session-queries.js'
import type { StateService } from '../service.js'
import { readActors } from './authenticate.js'
import { isSessionValid } from './sessions.js'
import { startLoop, type Pass } from '../../runtime/loop.js'

export interface SessionWatch {
  /** Calls `onChange` with the session's rights whenever they change; null: the session has ended. */
  watch(actor: Actor, onChange: (actor: Actor | null) => void): Subscription
  close(): Promise<void>
}

interface Watched {
  /** What the listeners were sent last; empty after a listener joined, because its rights may be older. */
  sent: string
  readonly listeners: Set<(actor: Actor | null) => void>
}

const checkEveryMs = 2_000
/** Hints of one change, and calls that begin together, share one check. */
const gatherMs = 100
/** Sessions that could not be checked for this long are treated as ended. */
const staleAfterMs = 4_500

export function createSessionWatch({ store, bus }: StateService, log: Logger): SessionWatch {
  const watched = new Map<number, Watched>()
  let checkedAt = performance.now()
  const loop = startLoop({
    log,
    trouble: 'sessions of open calls cannot be checked',
    everyMs: checkEveryMs,
    firstMs: null,
    pass: check,
  })
  const subscription = bus.subscribe(credentialsChangedSubject, () => {
    if (watched.size > 0) loop.wake(gatherMs)
  })

  return {
    watch: (actor, onChange) => {
      if (watched.size === 0) checkedAt = performance.now()
      const entry = watched.get(actor.sessionId) ?? { sent: '', listeners: new Set() }
      watched.set(actor.sessionId, entry)
      entry.sent = ''
      const listener = (now: Actor | null): void => {
        onChange(now)
      }
      entry.listeners.add(listener)
      // The caller's rights come from a cache and may already be some seconds old.
      loop.wake(gatherMs)
      return {
        close: () => {
          entry.listeners.delete(listener)
          if (entry.listeners.size === 0 && watched.get(actor.sessionId) === entry)
            watched.delete(actor.sessionId)
        },
      }
    },
    close: () => {
      subscription.close()
      watched.clear()
      return loop.close()
    },
  }

  async function check({ nextIn }: Pass): Promise<void> {
    const startedAt = performance.now()
    try {
      const ids = [...watched.keys()]
      const living = await inPieces(ids, readLiving)
      const actors = new Map(living.map((actor) => [actor.sessionId, actor]))
      for (const id of ids) notify(id, actors.get(id) ?? null)
      checkedAt = startedAt
      if (watched.size === 0) nextIn(null)
    } catch (error) {
      if (performance.now() - checkedAt > staleAfterMs)
        for (const id of watched.keys()) notify(id, null)
      throw error
    }
  }

  async function readLiving(ids: readonly number[]): Promise<readonly Actor[]> {
    const sessions = await readSessions(store.queries, ids)
    return readActors(store.queries, sessions.filter(isSessionValid))
  }

  function notify(id: number, actor: Actor | null): void {
    const entry = watched.get(id)
    const text = JSON.stringify(actor)
    if (!entry || entry.sent === text) return
    entry.sent = text
    if (!actor) watched.delete(id)
    for (const listener of [...entry.listeners]) listener(actor)
  }
}
