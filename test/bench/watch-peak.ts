/** The peak memory of any process below another one that runs a given program, from /proc (proc(5)). */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** Of a process that ends between two checks, the memory allocated since the last one is missed. */
const lookEveryMs = 2

/** Watches while `work` runs. `program` is a word of the command line: before exec a child still has that of its parent. */
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

/** Itself and its descendants. */
function listBelow(pid: number): readonly number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? read(Number(name), 'stat') : ''
    // After the name, which may contain blanks: the state, then the parent.
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

/** Empty if it has ended. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
