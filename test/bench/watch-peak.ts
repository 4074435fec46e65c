/** The most memory that any process below another one had, of those that run a given program: as /proc tells it (proc(5)). */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** A process that ends between two looks is missed with what it took since the last one. */
const lookEveryMs = 2

/** Looks from when there is a process until `work` has ended. `program` is a word of the command line: what is not started yet is still its parent. */
export async function watchPeak(
  pid: () => number | null,
  program: string,
  work: () => Promise<unknown>,
): Promise<number> {
  let peakBytes = 0
  const state = { isOver: false }
  const watching = (async () => {
    while (!state.isOver) {
      const above = pid()
      for (const below of above === null ? [] : listBelow(above))
        if (read(below, 'cmdline').split('\0').includes(program))
          peakBytes = Math.max(peakBytes, readPeak(below))
      await pause(lookEveryMs)
    }
  })()
  try {
    await work()
  } finally {
    state.isOver = true
    await watching
  }
  return peakBytes
}

/** Itself, and what it started. */
function listBelow(pid: number): readonly number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? read(Number(name), 'stat') : ''
    // Behind the name, which may hold blanks: the state, then the parent.
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    if (stat !== '') parents.set(Number(name), parent)
  }
  const below = [pid]
  for (const parent of below)
    for (const [child, of] of parents) if (of === parent) below.push(child)
  return below
}

function readPeak(pid: number): number {
  const [, kilobytes = '0'] = /^VmHWM:\s+(\d+) kB/m.exec(read(pid, 'status')) ?? []
  return Number(kilobytes) * 1024
}

/** Empty when it is gone. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
