/** Runs one test file against one VCL in a private cache that is removed afterwards (docs/behaviour.md, Tests of VCL). */
import { performance } from 'node:perf_hooks'
import { FleetError } from '../errors.js'
import { runPrivately, type PrivateCache, type RunCommand } from '../agent/check/private-manager.js'
import type { StepResult, TestResult } from '../resources/vcl-test-result.js'
import { loadLimits, type CompileLimits } from '../vcl/compile-limits.js'
import { loadTested } from './load-tested.js'
import { startDeadline } from '../runtime/deadline.js'
import { Origin } from './origin.js'
import { findBackends, replaceBackends } from './replace-backends.js'
import { describeStranger, runStep, type TestBench } from './run-step.js'
import { openTestClock, type TestClock } from './test-clock.js'
import type { TestFile, TestStep } from '../test-files/test-file.js'
import { titleOf } from './step-title.js'
import type { TestProgram } from './test-program.js'
import { TestedCache } from './tested-cache.js'
import type { TestedVcl } from './tested-vcl.js'
import { TransactionLog } from './transaction-log.js'

export interface TestRun {
  readonly program: TestProgram
  readonly vcl: TestedVcl
  readonly test: TestFile
  /** The name under which the user passed it. */
  readonly file: string
  /** Distinguishes the folders of one test runner from those of others. */
  readonly owner: string
  /** Path of the library that shifts the clock; null: it was not built. */
  readonly clockLibrary: string | null
  readonly signal: AbortSignal
  /** Limits of the compile; absent: those of a deploy. */
  readonly compile?: CompileLimits
  /** Command-line words before the cache's program. */
  readonly through?: readonly string[]
  /** Called with the CPU time used. */
  readonly onCost?: (cpuMs: number) => void
}

/** The time limit for the steps of a file, without its compile. */
const fileLimitMs = 30_000
/** From 7.7 on a background fetch needs more idle threads than a compile. */
const threads = ['-p', 'thread_pool_max=40', '-p', 'thread_pool_min=20']
const softMemoryBytes = 256 << 20

/** Rejects only because of a bug. */
export async function runTest(run: TestRun): Promise<TestResult> {
  const { test, file, program, owner, signal, compile = loadLimits, through = [] } = run
  const limits = { ...compile, cpuMs: compile.cpuMs + fileLimitMs }
  const startedAt = performance.now()
  const steps: StepResult[] = []
  const notes: string[] = []
  let clock: TestClock | null = null
  const trouble = await describeTrouble(async () => {
    const { outcome, cpuMs } = await runPrivately(
      {
        program: program.daemon,
        words: [...threads, ...program.words],
        owner,
        limits,
        withChild: true,
        through,
        softMemoryBytes,
        signal,
        prepare: async (folder) => {
          clock = await openTestClock(folder, run.clockLibrary)
          return clock.environment
        },
      },
      (command, cache) => runInCache({ run, command, cache, clock, steps, notes }),
    )
    run.onCost?.(cpuMs)
    if (outcome.kind === 'done') return outcome.result
    if (outcome.kind === 'exceeded') return `the cache took more ${outcome.limit} than a test may`
    return `the cache ended: ${outcome.reason}`
  })
  return {
    file,
    name: test.name ?? file,
    durationMs: performance.now() - startedAt,
    steps,
    planned: test.steps.length,
    notes,
    trouble,
  }
}

/** Returns the message of a user's error; rethrows a bug. */
async function describeTrouble(work: () => Promise<string | null>): Promise<string | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FleetError) return error.message
    throw error
  }
}

interface CacheRun {
  readonly run: TestRun
  readonly command: RunCommand
  readonly cache: PrivateCache
  readonly clock: TestClock | null
  /** Filled while the steps run. */
  readonly steps: StepResult[]
  readonly notes: string[]
}

/** Returns why not all steps were run; null: all were run. */
async function runInCache(cacheRun: CacheRun): Promise<string | null> {
  const { run, command, cache, clock, steps, notes } = cacheRun
  const { vcl, test, program } = run
  const found = findBackends(vcl.text)
  const backends = new Set(found.map(({ name }) => name))
  const stranger = [...test.backends.keys()].find((name) => !backends.has(name))
  if (stranger !== undefined) return describeStranger(stranger, backends)
  if (clock === null) throw new Error('the clock was not prepared')
  const rules = test.backends
  const origin = await Origin.start({ backends: [...backends], rules, now: clock.now })
  try {
    const text = replaceBackends(vcl.text, found, origin.ports)
    const loaded = await loadTested(command, vcl, text)
    if (!loaded.ok) return loaded.error
    const tested = { run: command, cache, vcl, program: loaded.program }
    const log = new TransactionLog({
      program: program.recordTool,
      folder: cache.workingDirectory,
      variables: program.logVariables,
    })
    const deadline = startDeadline(fileLimitMs, run.signal)
    const { signal } = deadline
    try {
      const open = await TestedCache.open(tested)
      await log.attach(open.port, signal)
      const isRefused = (name: string): boolean => origin.describeRefusedProbe(name) !== null
      for (const name of await open.warmUp(found, isRefused, signal)) {
        notes.push(describeSick(name, origin.describeRefusedProbe(name)))
      }
      await runSteps({ cache: open, origin, log, clock, vcl, backends, signal }, test.steps, steps)
    } finally {
      deadline.stop()
      await log.stop()
    }
  } finally {
    origin.stop()
  }
  return describeRest(test.steps, steps)
}

function describeSick(backend: string, refusedProbe: string | null): string {
  const why = refusedProbe === null ? '' : `: the test answers its probe ${refusedProbe}`
  return `backend ${backend} is sick from the beginning${why}`
}

/** Stops at a step that could not be run: later steps depend on it. */
async function runSteps(
  bench: TestBench,
  planned: readonly TestStep[],
  steps: StepResult[],
): Promise<void> {
  for (const { number, line, action } of planned) {
    const startedAt = performance.now()
    const { isRun, ...outcome } = await runStep(bench, action).then(
      (done) => ({ isRun: true, ...done }),
      (error: unknown) => ({ isRun: false, problems: [messageOf(bench, error)], log: [] }),
    )
    const durationMs = performance.now() - startedAt
    steps.push({ number, line, title: titleOf(action), durationMs, ...outcome })
    if (!isRun) return
  }
}

function messageOf({ signal }: TestBench, error: unknown): string {
  if (signal.aborted) return `a test file has ${fileLimitMs / 1000} s, which are over`
  return error instanceof Error ? error.message : String(error)
}

function describeRest(planned: readonly TestStep[], steps: readonly StepResult[]): string | null {
  const left = planned.length - steps.length
  if (left === 0) return null
  return left === 1 ? 'one step was not run' : `${left} steps were not run`
}
