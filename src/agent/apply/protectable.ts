/**
 * Which parameters a cache is started with behind `-r`, so that those nobody may set stay protected. A cache does not start with
 * an unknown name; from 7.2 on `vcc_allow_inline_c` and the like are aliases of `vcc_feature`: some releases protect aliases
 * separately, others refuse their names.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { hasQuirk } from '../../../protocol/quirks.js'
import { parseBanner } from '../../../protocol/release.js'
import { isSettableParameter } from '../../vcl/engine-command.js'

const answerTimeoutMs = 5_000

/** Asks this program; returns an empty list if it cannot list its parameters (before 5.2). */
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

/** Reads the output of `-x parameter` and `-V`; a build that prints no version is treated as the newest. */
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
