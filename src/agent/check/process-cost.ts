/** The cost so far of a process and its descendants, from /proc (proc(5)). */
import { readFile } from 'node:fs/promises'

/** Unit of CPU times in Linux, independent of the kernel's own clock (USER_HZ). */
const ticksPerSecond = 100
/** A compile has at most five: manager, VCL compiler or driver, C compiler, assembler, linker; with a child one more. */
const processLimit = 64

/** CPU time of the process, its descendants and the processes they waited for; null when it is gone. */
export async function readCpuMs(pid: number): Promise<number | null> {
  const own = await readOwnCpuMs(pid)
  if (own === null) return null
  let sum = own
  const waiting = [...(await readChildren(pid))]
  for (let seen = 0; seen < processLimit; seen++) {
    const child = waiting.shift()
    if (child === undefined) break
    sum += (await readOwnCpuMs(child)) ?? 0
    waiting.push(...(await readChildren(child)))
  }
  return sum
}

async function readOwnCpuMs(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return null
  // The name in parentheses may itself contain blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // utime, stime and those of children that were waited for: fields 14 to 17; the first field here is 3.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return (ticks * 1000) / ticksPerSecond
}

/** Empty if the kernel was built without it: then children count once they were waited for. */
async function readChildren(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').map(Number).filter(Boolean)
}
