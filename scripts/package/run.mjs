/** Programs that the build of packages calls, and where the checkout is. */
import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

const keptCharacters = 4_000

/** What it printed. Throws with its output when it fails. */
export function run(command, words, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, words, {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    ...options,
  })
  if (status === 0) return stdout
  const reason = error?.message ?? `${status}\n${`${stdout}${stderr}`.slice(-keptCharacters)}`
  throw new Error(`${command} ${words.join(' ')}: ${reason}`)
}

/** The first of these that is installed and can do it. */
export function runAny(commands, words) {
  return commands.find((command) => spawnSync(command, words).status === 0)
}
