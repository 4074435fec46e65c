/** The program that an agent starts for one test file: it reads its order from standard input and writes the result to standard output. */
import { execFile } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { removeFoldersAtExit } from '../agent/check/check-folder.js'
import type { RunnerAnswer, RunnerOrder } from '../agent/tests/runner-order.js'
import { shortenResult, type TestResult } from '../resources/vcl-test-result.js'
import { readTestFile } from '../test-files/read-test-file.js'
import { findClockLibrary } from './clock-library.js'
import { runTest } from './run-test.js'
import { describeProgram } from './test-program.js'

const ending = new AbortController()
process.once('SIGTERM', () => {
  ending.abort()
})

const order = JSON.parse(await text(process.stdin)) as RunnerOrder // as the agent writes it
removeFoldersAtExit(order.owner)
process.stdout.write(JSON.stringify(await run(order)))

async function run({ file, vcl, containment, ...its }: RunnerOrder): Promise<RunnerAnswer> {
  if (containment !== null) await promisify(execFile)(containment.ip, ['link', 'set', 'lo', 'up'])
  const read = readTestFile(file.text)
  if (!read.ok) {
    const problems = read.problems.map(({ line, message }) => `line ${line}: ${message}`)
    return { result: describeUnread(file.name, problems), cpuMs: 0 }
  }
  let cpuMs = 0
  const result = await runTest({
    program: await describeProgram(its.program, its.words),
    vcl: { ...vcl, sourceMap: null },
    test: read.test,
    file: file.name,
    owner: its.owner,
    clockLibrary: findClockLibrary(),
    compile: its.compile,
    through: containment?.through ?? [],
    signal: ending.signal,
    onCost: (ms) => {
      cpuMs = ms
    },
  })
  return { result: shortenResult(result), cpuMs }
}

/** Another version of cachefleet accepted the file when it was written. */
function describeUnread(file: string, problems: readonly string[]): TestResult {
  const trouble = problems.map((one) => `${file} ${one}`).join('\n')
  return { file, name: file, durationMs: 0, steps: [], planned: 0, notes: [], trouble }
}
