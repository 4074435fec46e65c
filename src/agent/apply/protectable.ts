/**
 * Which parameters a cache is started with behind `-r`, so that nobody sets what nobody may set. A cache does not start with a
 * name that it does not know; from 7.2 on `vcc_allow_inline_c` and its like are aliases of `vcc_feature`, which releases protect
 * apart or refuse to be named.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { hasQuirk } from '../../../protocol/quirks.js'
import { parseBanner } from '../../../protocol/release.js'
import { isSettableParameter } from '../../vcl/engine-command.js'

const answerTimeoutMs = 5_000

/** Of this program; none where it does not tell (before 5.2). */
export async function listProtectable(program: string): Promise<readonly string[]> {
  try {
    const [parameters, version] = await Promise.all([
      run(program, ['-x', 'parameter']),
      run(program, ['-V']),
    ])
    return chooseProtectable(parameters.stdout, version.stderr)
  } catch {
    return []
  }
}

/** From what `-x parameter` and `-V` print; a build that names no version is taken for the newest. */
export function chooseProtectable(parameters: string, version: string): readonly string[] {
  const { version: release } = parseBanner(/\(([^()]+)\)/.exec(version)?.[1] ?? '')
  const takesAliases = !hasQuirk(release, 'refusesAliases')
  return [...parameters.matchAll(/^([a-z][a-z0-9_]*)\n~+\n+(.*)$/gm)]
    .filter(([, , text = '']) => takesAliases || !text.startsWith('Deprecated alias for'))
    .map(([, name = '']) => name)
    .filter((name) => !isSettableParameter(name))
}

function run(program: string, words: readonly string[]) {
  return promisify(execFile)(program, words, { timeout: answerTimeoutMs })
}
