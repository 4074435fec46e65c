/** Prometheus's own checker, from Debian's package `prometheus`. */
import { spawnSync } from 'node:child_process'

/** Returns its complaints; empty: none. */
export function runPromtool(words: readonly string[], input = ''): string {
  const { error, status, stdout, stderr } = spawnSync('promtool', words, {
    encoding: 'utf8',
    input,
  })
  if (error) throw error
  return status === 0 ? '' : `${status ?? ''}: ${stdout}${stderr}`
}
