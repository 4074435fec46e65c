/** Figures of a process from Linux (proc(5)). */
import { readFile } from 'node:fs/promises'

/** The kernel's clock ticks: 100 a second on every Linux that Node runs on. */
const tickMs = 10

/** Resident bytes now. */
export async function readResidentBytes(pid: number): Promise<number> {
  return readStatusBytes(pid, 'VmRSS')
}

/** Peak resident bytes. */
export async function readPeakBytes(pid: number): Promise<number> {
  return readStatusBytes(pid, 'VmHWM')
}

/** User and system time since its start. */
export async function readCpuMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  // After the name, which may contain blanks: field 3 is the state, 14 and 15 the times.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}

/** Returns the result of `run` and the CPU time of this process meanwhile, which other load hardly affects. */
export function runTimed<Result>(run: () => Result): readonly [result: Result, cpuMs: number] {
  const before = process.cpuUsage()
  const result = run()
  const { user, system } = process.cpuUsage(before)
  return [result, (user + system) / 1000]
}

async function readStatusBytes(pid: number, field: string): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8')
  const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text) ?? []
  if (kilobytes === undefined) throw new Error(`/proc/${pid}/status has no ${field}`)
  return Number(kilobytes) * 1024
}
