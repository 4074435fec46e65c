/**
 * Waiting transactions share one commit, because the commit takes the time: it waits for the disk, and its writes are
 * invisible until then. Each is a savepoint of the group's transaction, so that a failing one does not affect the
 * others; all resolve when the group is committed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** The one connection, as groups use it. `Held` is the parameter of its work. */
export interface GroupConnection<Held> {
  /** Resolves when the work has ended; until then others wait for the connection. */
  hold(work: (held: Held) => Promise<void>): Promise<void>
  /** Waits while another process holds the store. */
  begin(): Promise<void>
  /** If durable, the data is on disk when it resolves. */
  commit(durable: boolean): Promise<void>
  /** Does nothing if the database has rolled back by itself. */
  rollback(): void
  /** False when the database has rolled back by itself: the disk is full. */
  isOpen(): boolean
}

interface GroupCommit<Held> {
  /** For the caller, a separate transaction. */
  run<T>(transaction: (held: Held) => Promise<T>, durable: boolean): Promise<T>
  /** Resolves when no transaction waits or runs. */
  finish(): Promise<void>
}

/** Maximum number of writes that share a commit and so wait for each other. */
const maxMembers = 64

interface Member<Held> {
  readonly durable: boolean
  /** Never rejects. Returns the action to take after the commit, or the error. */
  run(held: Held): Promise<Outcome>
  fail(error: unknown): void
}

interface Outcome {
  readonly settle: () => void
  /** Undefined: success. */
  readonly error: unknown
}

export function createGroupCommit<Held>(connection: GroupConnection<Held>): GroupCommit<Held> {
  const waiting: Member<Held>[] = []
  let running: Promise<void> | null = null

  return {
    run,
    finish: async () => {
      await running
    },
  }

  function run<T>(transaction: (held: Held) => Promise<T>, durable: boolean): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail: (error: unknown) => void = reject
      waiting.push({
        durable,
        fail,
        run: (held) =>
          transaction(held).then(
            (result) => ({
              error: undefined,
              settle: () => {
                resolve(result)
              },
            }),
            (error: unknown) => ({
              error,
              settle: () => {
                fail(error)
              },
            }),
          ),
      })
      running ??= runGroups() // never rejects
    })
  }

  async function runGroups(): Promise<void> {
    while (waiting.length > 0)
      try {
        await connection.hold(runGroup)
      } catch (error) {
        for (const member of waiting.splice(0)) member.fail(error)
      }
    running = null
  }

  async function runGroup(held: Held): Promise<void> {
    // Includes the requests that have arrived by now.
    await nextTurn()
    const members = waiting.splice(0, maxMembers)
    try {
      await connection.begin()
      const outcomes = await runMembers(members, held)
      await connection.commit(members.some(({ durable }) => durable))
      for (const { settle } of outcomes) settle()
    } catch (error) {
      connection.rollback()
      for (const member of members) member.fail(error)
    }
  }

  /** Throws when the group's transaction was lost. */
  async function runMembers(members: readonly Member<Held>[], held: Held): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    for (const member of members) {
      const outcome = await member.run(held)
      if (!connection.isOpen()) throw outcome.error
      outcomes.push(outcome)
    }
    return outcomes
  }
}
