/** Programs that end when this process does, even when it is killed: where no service manager ends what is left, nobody else would. */
import { spawnSync } from 'node:child_process'

export interface Command {
  readonly program: string
  readonly words: readonly string[]
}

/** Of util-linux: asks the kernel for the signal, and becomes the program (prctl(2), PR_SET_PDEATHSIG). */
const setpriv = '/usr/bin/setpriv'
const askForKill = ['--pdeathsig', 'KILL', '--'] as const
const probeTimeoutMs = 1_000

/** What it ends with where the program is not there. */
export const notThereCode = 127

let isAble: boolean | undefined

/** As it is where the host has no such tool, or one that is older (util-linux 2.33). */
export function endWithUs(command: Command): Command {
  isAble ??= canAsk()
  if (!isAble) return command
  return { program: setpriv, words: [...askForKill, command.program, ...command.words] }
}

/** Once, some milliseconds. */
function canAsk(): boolean {
  const { status } = spawnSync(setpriv, [...askForKill, '/bin/true'], {
    stdio: 'ignore',
    timeout: probeTimeoutMs,
  })
  return status === 0
}
