/** `cachefleet test`: plans and runs tests and reports the results (docs/behaviour.md, Tests of VCL). */
import { writeFile } from 'node:fs/promises'
import { CliError, exitCodes, usageError, type ExitCode } from '../cli-error.js'
import { showText } from '../output.js'
import { isSet, textFlag, type Invocation } from '../verb.js'
import { findClockLibrary } from '../../vcl-tests/clock-library.js'
import { runTest } from '../../vcl-tests/run-test.js'
import { claimFolders, findTestProgram, type TestProgram } from '../../vcl-tests/test-program.js'
import { hasPassed, type TestResult } from '../../resources/vcl-test-result.js'
import { planTests } from './plan-tests.js'
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
      // While watching, a file may be half-written.
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

/** @param seen collects the files on which the tests depend */
async function runOnce(
  invocation: Invocation,
  program: TestProgram,
  seen: Set<string> = new Set(),
): Promise<ExitCode> {
  const { output } = invocation
  // All tests are read before any runs, so that problems are reported at once.
  const tests = await planTests(
    {
      paths: givenPaths(invocation),
      vcl: textFlag(invocation, 'vcl'),
      group: textFlag(invocation, 'group'),
    },
    seen,
  )
  const isPlain = output.form === 'table' && !isSet(invocation, 'tap')
  const results: TestResult[] = []
  const { signal } = new AbortController()
  const owner = claimFolders()
  const clockLibrary = findClockLibrary()
  for (const { path, test, vcl } of tests) {
    const result = await runTest({ program, vcl, test, file: path, owner, clockLibrary, signal })
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
