/** A trap on a proxy: acts at the n-th command or message of a name, exactly before or after it passes. */

export interface Trap {
  /** A command such as `vcl.use`, or the kind of a message such as `apply`. */
  readonly name: string
  /** Counted from when the trap is set; 1 by default. */
  readonly nth?: number
  readonly moment: 'before' | 'after'
  /** Called for each of that name; where it returns false the command or message passes uncounted. */
  readonly onlyIf?: () => Promise<boolean>
  /** Traffic waits until this is done. */
  readonly act: () => void | Promise<void>
  /** Whether the caught one passes afterwards; `drop` closes the connection, as a killed peer would. */
  readonly fate: 'pass' | 'drop'
}

export class Traps {
  #set: { readonly trap: Trap; left: number; readonly tell: () => void } | null = null

  /** Replaces an earlier trap; resolves when the trap was triggered and its act is done. */
  set(trap: Trap): Promise<void> {
    return new Promise((tell) => {
      this.#set = { trap, left: trap.nth ?? 1, tell }
    })
  }

  /** Called by the proxy for everything that passes. */
  async meet(name: string, moment: Trap['moment']): Promise<Trap['fate']> {
    const set = this.#set
    if (set?.trap.name !== name || set.trap.moment !== moment) return 'pass'
    if (set.trap.onlyIf && !(await set.trap.onlyIf())) return 'pass'
    if (this.#set !== set) return 'pass' // another one triggered it meanwhile
    set.left -= 1
    if (set.left > 0) return 'pass'
    this.#set = null
    await set.trap.act()
    set.tell()
    return set.trap.fate
  }
}
