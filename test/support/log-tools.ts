/** The cache's own log tool, observed from the outside. */
import { readdir, readFile, stat } from 'node:fs/promises'

/** Process ids of the log tool for the cache with this working directory. */
export async function findLogTools(workDir: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return words.includes('ncsa\0') && words.includes(`\0${workDir}\0`) ? [Number(pid)] : []
    }),
  )
  return found.flat()
}

/** Whether it has run for at least this time. */
export async function runsFor(workDir: string, seconds: number): Promise<boolean> {
  const [pid] = await findLogTools(workDir)
  if (pid === undefined) return false
  const { ctimeMs } = await stat(`/proc/${pid}`)
  return Date.now() - ctimeMs > seconds * 1000
}
