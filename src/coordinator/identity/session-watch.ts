/**
 * Sessions of calls that go on: all of them are looked at together, when a hint says that credentials changed and every
 * two seconds, so that what is revoked ends within 5 s (docs/behaviour.md, Tokens) and costs two queries for all.
 */
import type { Logger } from 'pino'
import type { Subscription } from '../bus/bus.js'
import { credentialsChangedSubject } from '../bus/subjects.js'
import type { Actor } from '../../resources/permission.js'
import { inPieces } from '../store/in-pieces.js'
import { readSessions } from './session-queries.js'
import type { StateService } from '../service.js'
import { readActors } from './authenticate.js'
import { maySessionLive } from './sessions.js'
import { startLoop, type Pass } from '../../runtime/loop.js'

export interface SessionWatch {
  /** Tells what the session may from now on, whenever that changes; null: it ended. */
  watch(actor: Actor, tell: (actor: Actor | null) => void): Subscription
  close(): Promise<void>
}

interface Watched {
  /** As told last; empty: somebody joined who may know something older. */
  told: string
  readonly tells: Set<(actor: Actor | null) => void>
}

const lookEveryMs = 2_000
/** Chosen by us: hints of one change, and calls that begin together, share a look. */
const gatherMs = 100
/** What could not be asked for so long counts no more. */
const believedMs = 4_500

export function createSessionWatch({ store, bus }: StateService, log: Logger): SessionWatch {
  const watched = new Map<number, Watched>()
  let lookedAt = performance.now()
  const loop = startLoop({
    log,
    trouble: 'sessions of open calls cannot be looked at',
    everyMs: lookEveryMs,
    firstMs: null,
    pass: look,
  })
  const subscription = bus.subscribe(credentialsChangedSubject, () => {
    if (watched.size > 0) loop.wake(gatherMs)
  })

  return {
    watch: (actor, tell) => {
      if (watched.size === 0) lookedAt = performance.now()
      const entry = watched.get(actor.sessionId) ?? { told: '', tells: new Set() }
      watched.set(actor.sessionId, entry)
      entry.told = ''
      const told = (now: Actor | null): void => {
        tell(now)
      }
      entry.tells.add(told)
      // Who was recognised is believed for some seconds already.
      loop.wake(gatherMs)
      return {
        close: () => {
          entry.tells.delete(told)
          if (entry.tells.size === 0 && watched.get(actor.sessionId) === entry)
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

  async function look({ nextIn }: Pass): Promise<void> {
    const startedAt = performance.now()
    try {
      const ids = [...watched.keys()]
      const living = await inPieces(ids, readLiving)
      const actors = new Map(living.map((actor) => [actor.sessionId, actor]))
      for (const id of ids) tell(id, actors.get(id) ?? null)
      lookedAt = startedAt
      if (watched.size === 0) nextIn(null)
    } catch (error) {
      if (performance.now() - lookedAt > believedMs) for (const id of watched.keys()) tell(id, null)
      throw error
    }
  }

  async function readLiving(ids: readonly number[]): Promise<readonly Actor[]> {
    const sessions = await readSessions(store.queries, ids)
    return readActors(store.queries, sessions.filter(maySessionLive))
  }

  function tell(id: number, actor: Actor | null): void {
    const entry = watched.get(id)
    const text = JSON.stringify(actor)
    if (!entry || entry.told === text) return
    entry.told = text
    if (!actor) watched.delete(id)
    for (const told of [...entry.tells]) told(actor)
  }
}
