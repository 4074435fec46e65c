/**
 * Asks a program of the cache on this machine, `varnishd -C`: it reads VCL and ends, and listens nowhere. The C compiler is left
 * out, which finds nothing in what the VCL compiler wrote.
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

/** As long as a cache may take for a load (docs/behaviour.md, Deploy). */
const longestRunMs = 120_000
/** What it says of a text is at the end, behind the C that it wrote. */
const outputLimitCharacters = 262_144
/** From 6.0 to 9: nobody has a cache without it. */
const smallVcl = 'vcl 4.0;\nbackend default { .host = "127.0.0.1"; }\n'

/** Throws CliError for what is no program of this release. */
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
  const told = await runProgram(program, ['-x', 'parameter'])
  return new Set([...told.matchAll(/^\.\. _ref_param_(\w+):$/gm)].map(([, name = '']) => name))
}

/** Newer releases list no other names of a parameter, and take them. The value comes from nowhere: some are commands. */
async function isTaken(program: string, name: string): Promise<boolean> {
  if (!/^[a-z]\w*$/.test(name)) return false
  const words = await readVcl(program, smallVcl, ['-p', `${name}=0`])
  return words === null || !unknownParameter.test(words)
}

/** `varnishd (varnish-7.1.1 revision …)`, `vinyld (vinyl-cache-9.0.1 revision …)`. */
const versionForm = /\(([a-z][a-z-]*?)(?:-cache)?-(\d[\w.]*) revision /

async function readProgramRelease(program: string): Promise<CacheRelease> {
  const said = await runProgram(program, ['-V'])
  const [, product, version] = versionForm.exec(said) ?? []
  if (product !== undefined && version !== undefined) return { product, version }
  throw new CliError(exitCodes.refused, `${program} does not tell its release by -V`)
}

/** Why it refuses the text; null: it takes it. Throws CliError when it says neither. */
async function readVcl(
  program: string,
  text: string,
  words: readonly string[] = [],
): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-upgrade-'))
  try {
    // Started by root it reads as a user of its own, who passes through; nobody can list it.
    if (process.geteuid?.() === 0) await chmod(folder, 0o711)
    const file = join(folder, `${randomUUID()}.vcl`)
    await writeFile(file, text)
    const places = ['-C', '-f', file, '-n', join(folder, 'n')]
    const said = await runProgram(program, [...places, '-p', 'cc_command=exec true', ...words])
    return readVerdict(program, said.replaceAll(`'${file}'`, "'<vcl.inline>'"))
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const unknownParameter = /^Unknown parameter /m
/** Of a text, or of a parameter. */
const refusals =
  /^(?:Running \S+ failed, |VCL compilation failed|Unknown parameter |\(attempting to set param )/m

function readVerdict(program: string, said: string): string | null {
  const verdict = judgeRefusal(said)
  if (verdict.kind === 'compiles') return null
  // Before it stand warnings about the program's own settings.
  if (verdict.kind === 'refused' && refusals.test(said))
    return said.slice(Math.max(0, said.indexOf('Message from VCC-compiler:')))
  const last = said.trim().split('\n').at(-1) ?? ''
  throw new CliError(exitCodes.refused, `${program} did not read the VCL: ${last}`)
}

/** What it wrote, whatever its exit code. Throws CliError when it cannot be run. */
async function runProgram(program: string, words: readonly string[]): Promise<string> {
  const child = spawn(program, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Messages in English, and nothing of this process's environment.
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-outputLimitCharacters)
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
  if (signal === null) return said
  throw new CliError(exitCodes.refused, `${program} did not end within ${longestRunMs / 1000} s`)
}
