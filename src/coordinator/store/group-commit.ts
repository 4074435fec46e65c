/**
 * Transactions that wait together share one commit, which is what takes the time: it ends on the disk, and nobody sees before
 * what it wrote. Each is a savepoint of the group's transaction, so that one that fails takes nothing from the
 * others; all are answered when the group is committed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** The one connection, as groups use it. `Held` is what its work is given. */
export interface GroupConnection<Held> {
  /** Resolves when the work has ended; others wait for the connection meanwhile. */
  hold(work: (held: Held) => Promise<void>): Promise<void>
  /** Waits while another process holds the store. */
  begin(): Promise<void>
  /** Durable: on disk when it resolves. */
  commit(durable: boolean): Promise<void>
  /** Unless the database has rolled back by itself. */
  rollback(): void
  /** False when the database has rolled back by itself: the disk is full. */
  isOpen(): boolean
}

interface GroupCommit<Held> {
  /** A transaction of its own, as far as the caller sees. */
  run<T>(transaction: (held: Held) => Promise<T>, durable: boolean): Promise<T>
  /** Resolves when none waits and none runs. */
  finish(): Promise<void>
}

/** How many writes share a commit, and so wait for each other. */
const membersMost = 64

interface Member<Held> {
  readonly durable: boolean
  /** Never rejects. Answers what is to be done once it is committed, or why it failed. */
  run(held: Held): Promise<Outcome>
  fail(error: unknown): void
}

interface Outcome {
  readonly settle: () => void
  /** Undefined: it did not fail. */
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
    // All that the network has brought by now comes along.
    await nextTurn()
    const members = waiting.splice(0, membersMost)
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
