/** Makes child programs end with this process, even if it is killed: without a service manager nothing else would end them. */
import { spawnSync } from 'node:child_process'

export interface Command {
  readonly program: string
  readonly words: readonly string[]
}

/** From util-linux: asks the kernel for the signal, then executes the program (prctl(2), PR_SET_PDEATHSIG). */
const setpriv = '/usr/bin/setpriv'
const askForKill = ['--pdeathsig', 'KILL', '--'] as const
const probeTimeoutMs = 1_000

/** The exit code if the program does not exist. */
export const notThereCode = 127

let isAble: boolean | undefined

/** Returns the command unchanged if the host has no such tool or an older one (before util-linux 2.33). */
export function endWithUs(command: Command): Command {
  isAble ??= canAsk()
  if (!isAble) return command
  return { program: setpriv, words: [...askForKill, command.program, ...command.words] }
}

/** Runs once, and takes some milliseconds. */
function canAsk(): boolean {
  const { status } = spawnSync(setpriv, [...askForKill, '/bin/true'], {
    stdio: 'ignore',
    timeout: probeTimeoutMs,
  })
  return status === 0
}
