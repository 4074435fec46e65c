/** `cachefleet test`: which tests, against which VCL, and how it ended (docs/behaviour.md, Tests of VCL). */
import { stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CliError, exitCodes, usageError, type ExitCode } from '../cli-error.js'
import { showText } from '../output.js'
import { isSet, textFlag, type Invocation } from '../verb.js'
import { findClockLibrary } from '../../vcl-tests/clock-library.js'
import { runTest } from '../../vcl-tests/run-test.js'
import { claimFolders, findTestProgram, type TestProgram } from '../../vcl-tests/test-program.js'
import { hasPassed, type TestResult } from '../../vcl-tests/test-result.js'
import type { TestedVcl } from '../../vcl-tests/tested-vcl.js'
import { listTestFiles, readTests, type FoundTest } from './find-tests.js'
import { readGroupVcl } from './group-vcl.js'
import { readLocalVcl } from './local-vcl.js'
import { describeResult, describeTotal, formatJunit, formatTap } from './result-text.js'
import { watchFiles } from './watch-files.js'

export async function testCommand(invocation: Invocation): Promise<ExitCode> {
  const program = await findProgram(invocation)
  if (!isSet(invocation, 'watch')) return runOnce(invocation, program)
  const { stderr } = invocation.system
  for (;;) {
    const seen = new Set<string>()
    try {
      await runOnce(invocation, program, seen)
    } catch (error) {
      // It is being written.
      if (!(error instanceof CliError)) throw error
      stderr.write(`${error.message}\n`)
    }
    stderr.write('Watching for changes; Ctrl-C ends.\n')
    await watchFiles([...seen, ...givenPaths(invocation)])
  }
}

async function findProgram({ system }: Invocation): Promise<TestProgram> {
  const program = await findTestProgram(system.environment['PATH'] ?? '')
  if (program !== null) return program
  throw usageError(
    'Tests run in a private cache, and neither varnishd nor vinyld is on PATH or in /usr/sbin: install one of them',
  )
}

/** @param seen gets the files that it depends on */
async function runOnce(
  invocation: Invocation,
  program: TestProgram,
  seen: Set<string> = new Set(),
): Promise<ExitCode> {
  const { output } = invocation
  const tests = await readTests(await findPaths(invocation))
  const vcls = new VclOfTests(invocation, seen)
  for (const { path } of tests) seen.add(path)
  // All are read before one is run: a path that is wrong is told at once.
  const runs: { found: FoundTest; vcl: TestedVcl }[] = []
  for (const found of tests) runs.push({ found, vcl: await vcls.find(found) })
  const isPlain = output.form === 'table' && !isSet(invocation, 'tap')
  const results: TestResult[] = []
  const { signal } = new AbortController()
  const owner = claimFolders()
  const clockLibrary = findClockLibrary()
  for (const { found, vcl } of runs) {
    const { path, test } = found
    const result = await runTest({
      ...{ program, vcl, test, file: path, owner, clockLibrary, signal },
    })
    results.push(result)
    if (isPlain) showText(output, describeResult(result), result)
  }
  await report(invocation, results)
  return results.every(hasPassed) ? exitCodes.done : exitCodes.refused
}

async function report(invocation: Invocation, results: readonly TestResult[]): Promise<void> {
  const { output } = invocation
  if (isSet(invocation, 'tap')) output.write(formatTap(results))
  else showText(output, describeTotal(results), results)
  const junit = textFlag(invocation, 'junit')
  if (junit === undefined) return
  await writeFile(junit, formatJunit(results)).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw usageError(`--junit: ${junit} cannot be written: ${why}`)
  })
}

function givenPaths({ words }: Invocation): readonly string[] {
  return words.length === 0 ? ['.'] : words
}

async function findPaths(invocation: Invocation): Promise<readonly string[]> {
  const paths = givenPaths(invocation)
  const files = await listTestFiles(paths)
  if (files.length > 0) return files
  throw usageError(
    `${paths.join(', ')} has no tests; they end in .test.yaml, .test.yml or .test.json`,
  )
}

/** Each VCL is read once, however many tests it has. */
class VclOfTests {
  readonly #invocation: Invocation
  readonly #seen: Set<string>
  readonly #known = new Map<string, Promise<TestedVcl>>()

  constructor(invocation: Invocation, seen: Set<string>) {
    this.#invocation = invocation
    this.#seen = seen
  }

  async find({ path, test }: FoundTest): Promise<TestedVcl> {
    const vcl = textFlag(this.#invocation, 'vcl')
    const group = textFlag(this.#invocation, 'group')
    if (vcl !== undefined && group !== undefined)
      throw usageError('--vcl and --group both say which VCL is tested: give one of them')
    if (vcl !== undefined) return this.#readLocal(vcl)
    if (group !== undefined) return this.#readGroup(group)
    if (test.vcl !== null) return this.#readLocal(join(dirname(path), test.vcl))
    throw usageError(
      `${path} does not say which VCL it tests: add vcl: with a path from there, or give --vcl or --group`,
    )
  }

  #readLocal(path: string): Promise<TestedVcl> {
    return this.#remember(path, async () => {
      const { vcl, files } = await readLocalVcl(path)
      for (const file of files) this.#seen.add(file)
      return vcl
    })
  }

  #readGroup(name: string): Promise<TestedVcl> {
    return this.#remember(name, async () => {
      const folder = await findFolder(givenPaths(this.#invocation))
      this.#seen.add(folder)
      return readGroupVcl(folder, name)
    })
  }

  #remember(key: string, read: () => Promise<TestedVcl>): Promise<TestedVcl> {
    const known = this.#known.get(key) ?? read()
    this.#known.set(key, known)
    return known
  }
}

/** Of the documents: the first path that is a folder. */
async function findFolder(paths: readonly string[]): Promise<string> {
  for (const path of paths) if ((await stat(path)).isDirectory()) return path
  return '.'
}
