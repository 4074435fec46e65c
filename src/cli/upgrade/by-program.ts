/**
 * Checks with a local program of the cache, `varnishd -C`, which reads VCL and exits without listening. The C compiler is skipped, because
 * it finds no errors in the VCL compiler's output.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isOfRelease, titleOfRelease, type CacheRelease } from '../../resources/cache-release.js'
import { judgeRefusal } from '../../vcl/compile-verdict.js'
import { translateError } from '../../vcl/compiler-text.js'
import type { Api } from '../api.js'
import { CliError, exitCodes } from '../cli-error.js'
import { readDeployedText } from './deployed-text.js'
import type { ReleaseChecker } from './release-checker.js'

/** The same limit as for a load in a cache (docs/behaviour.md, Deploy). */
const longestRunMs = 120_000
/** The messages come last, after the generated C code. */
const outputLimitCharacters = 262_144
/** A minimal VCL that compiles on releases 6.0 to 9. */
const smallVcl = 'vcl 4.0;\nbackend default { .host = "127.0.0.1"; }\n'

/** Throws CliError if the program is not of this release. */
export async function checkByProgram(
  api: Api,
  program: string,
  release: string,
): Promise<ReleaseChecker> {
  const found = await readProgramRelease(program)
  const title = `${program} (${titleOfRelease(found) ?? ''})`
  if (!isOfRelease(found, release))
    throw new CliError(exitCodes.refused, `${title} is not of release ${release}`)
  const known = await listParameters(program)
  return {
    title,
    release: found,
    compile: async (group) => {
      const { text, sourceMap } = await readDeployedText(api, group)
      const words = await readVcl(program, text)
      return words === null ? null : translateError(words, sourceMap)
    },
    knows: async (name) => known.has(name) || (await isTaken(program, name)),
  }
}

async function listParameters(program: string): Promise<ReadonlySet<string>> {
  const parameters = await runProgram(program, ['-x', 'parameter'])
  return new Set(
    [...parameters.matchAll(/^\.\. _ref_param_(\w+):$/gm)].map(([, name = '']) => name),
  )
}

/** Newer releases accept aliases of a parameter without listing them. The value is a constant, because some parameters are commands. */
async function isTaken(program: string, name: string): Promise<boolean> {
  if (!/^[a-z]\w*$/.test(name)) return false
  const words = await readVcl(program, smallVcl, ['-p', `${name}=0`])
  return words === null || !unknownParameter.test(words)
}

/** For example `varnishd (varnish-7.1.1 revision …)`, `vinyld (vinyl-cache-9.0.1 revision …)`. */
const versionForm = /\(([a-z][a-z-]*?)(?:-cache)?-(\d[\w.]*) revision /

async function readProgramRelease(program: string): Promise<CacheRelease> {
  const output = await runProgram(program, ['-V'])
  const [, product, version] = versionForm.exec(output) ?? []
  if (product !== undefined && version !== undefined) return { product, version }
  throw new CliError(exitCodes.refused, `${program} does not tell its release by -V`)
}

/** Returns the program's error message, or null if it accepts the text. Throws CliError if the output is neither. */
async function readVcl(
  program: string,
  text: string,
  words: readonly string[] = [],
): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-upgrade-'))
  try {
    // When run as root, the program reads as its own user, who may enter the folder but not list it.
    if (process.geteuid?.() === 0) await chmod(folder, 0o711)
    const file = join(folder, `${randomUUID()}.vcl`)
    await writeFile(file, text)
    const places = ['-C', '-f', file, '-n', join(folder, 'n')]
    const output = await runProgram(program, [...places, '-p', 'cc_command=exec true', ...words])
    return readVerdict(program, output.replaceAll(`'${file}'`, "'<vcl.inline>'"))
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const unknownParameter = /^Unknown parameter /m
/** Refusals of a VCL text or of a parameter. */
const refusals =
  /^(?:Running \S+ failed, |VCL compilation failed|Unknown parameter |\(attempting to set param )/m

function readVerdict(program: string, output: string): string | null {
  const verdict = judgeRefusal(output)
  if (verdict.kind === 'compiles') return null
  // Warnings about the program's own settings come first.
  if (verdict.kind === 'refused' && refusals.test(output))
    return output.slice(Math.max(0, output.indexOf('Message from VCC-compiler:')))
  const last = output.trim().split('\n').at(-1) ?? ''
  throw new CliError(exitCodes.refused, `${program} did not read the VCL: ${last}`)
}

/** Returns the program's output, regardless of the exit code. Throws CliError if it cannot be run. */
async function runProgram(program: string, words: readonly string[]): Promise<string> {
  const child = spawn(program, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // English messages, and no variables of this process.
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = `${output}${text}`.slice(-outputLimitCharacters)
    })
  const late = setTimeout(() => child.kill('SIGKILL'), longestRunMs)
  const signal = await new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', (error) => {
      reject(new CliError(exitCodes.refused, `${program} cannot be run: ${error.message}`))
    })
    child.once('close', (_, ended) => {
      resolve(ended)
    })
  }).finally(() => {
    clearTimeout(late)
  })
  if (signal === null) return output
  throw new CliError(exitCodes.refused, `${program} did not end within ${longestRunMs / 1000} s`)
}
