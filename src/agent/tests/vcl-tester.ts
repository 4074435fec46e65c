/** Tests VCL in private caches of the live cache's program, one file at a time per host (docs/behaviour.md, Tests before deploys). */
import type { Context } from '../../context.js'
import type { TestAnswer, TestOrder } from '../../messages/vcl-test.js'
import type { TestResult } from '../../resources/vcl-test-result.js'
import { Semaphore } from '../../runtime/semaphore.js'
import { removeLeftFolders } from '../check/check-folder.js'
import type { LiveSettings } from '../check/live-compiler.js'
import type { SourceChecks } from '../check/source-checks.js'
import { findContainment, type FoundContainment } from './containment.js'
import { lockHost } from './host-lock.js'
import { runInProcess, type RunnerOutcome } from './run-in-process.js'

interface VclTesterOptions {
  readonly checks: SourceChecks
  /** The agent's state dir; null: an agent without one, which runs no programs. */
  readonly owner: string | null
}

type AskedTest = Omit<TestOrder, 'kind' | 'sha'> & { readonly text: string }

/** Tests that the coordinator may queue meanwhile; each of them has a time limit. */
const maxWaiting = 100
const busyRetrySeconds = 10

export class VclTester {
  readonly #options: VclTesterOptions
  readonly #semaphore = new Semaphore({
    maxWaiting,
    refuse: () => new Error(`${maxWaiting} tests wait on this agent already`),
  })
  readonly #ending = new AbortController()
  #containment: Promise<FoundContainment> | null = null
  #running: Promise<unknown> = Promise.resolve()

  constructor(options: VclTesterOptions) {
    this.#options = options
  }

  /** Removes what an earlier process of this agent left if it was killed. */
  async removeLeftovers(): Promise<void> {
    const { owner } = this.#options
    if (owner !== null) await removeLeftFolders(ownerOf(owner))
  }

  /** Resolves when the running test has ended. */
  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#running
  }

  /** Rejects with errors of the connection to the cache. */
  async run(context: Context, asked: AskedTest): Promise<TestAnswer> {
    const { checks } = this.#options
    const settings = await checks.findSettings(context)
    if ('missing' in settings) return unavailable(settings.missing)
    const containment = await (this.#containment ??= findContainment())
    const reach = findReach(containment, asked.breach)
    if (reach !== null) return unavailable(reach)
    const untilMs = performance.now() + asked.waitMs
    if (!(await this.#semaphore.acquireWithin(asked.waitMs))) return busy
    try {
      const lock = await lockHost(Math.max(0, untilMs - performance.now()), this.#ending.signal)
      if (lock === null || this.#ending.signal.aborted) {
        lock?.release()
        return busy
      }
      try {
        const run = () => this.#run(context, { asked, settings, containment })
        const outcome = await checks.spend(asked.budget, run, asked.limitMs)
        if ('result' in outcome) return outcome.result
        const { reason: error, retryAfterSeconds } = outcome
        return { result: null, error, retryAfterSeconds }
      } finally {
        lock.release()
      }
    } finally {
      this.#semaphore.release()
    }
  }

  async #run(
    context: Context,
    { asked, settings, containment }: RunParts,
  ): Promise<{ readonly result: TestAnswer; readonly cpuMs: number }> {
    const { checks, owner } = this.#options
    const { file, limitMs, budget, text, group: groupId, routed } = asked
    const contained = 'missing' in containment ? null : containment
    const startedAt = performance.now()
    const running = runInProcess({
      order: {
        program: settings.program,
        words: [...settings.words, ...settings.compilerWords],
        file,
        vcl: { text, groupId, routed },
        owner: ownerOf(owner ?? ''),
        compile: checks.limitsOf(budget),
        containment: contained,
      },
      words: contained?.words ?? [],
      limitMs,
      signal: this.#ending.signal,
    })
    this.#running = running
    const outcome = await running
    const tookMs = Math.round(performance.now() - startedAt)
    const cpuMs = outcome.kind === 'done' ? outcome.answer.cpuMs : tookMs
    const isContained = contained !== null
    context.log.info(
      { file: file.name, cpuMs, tookMs, isContained, ended: outcome.kind },
      'tested VCL',
    )
    return { result: toAnswer(file.name, outcome), cpuMs }
  }
}

interface RunParts {
  readonly asked: AskedTest
  readonly settings: LiveSettings
  readonly containment: FoundContainment
}

/** Why VCL beyond the organizations' policy is not run if a test could reach the host; null if it may be run. */
export function findReach(
  containment: FoundContainment,
  breach: string | undefined,
): string | null {
  if (breach === undefined || !('missing' in containment)) return null
  return `${breach}; a test may not go beyond that there, since it would reach the host: ${containment.missing}`
}

const busy: TestAnswer = {
  result: null,
  error: 'other tests run on its host, one at a time',
  retryAfterSeconds: busyRetrySeconds,
}

function unavailable(error: string): TestAnswer {
  return { result: null, error, unavailable: true }
}

function toAnswer(file: string, outcome: RunnerOutcome): TestAnswer {
  switch (outcome.kind) {
    case 'done':
      return { result: outcome.answer.result, error: null }
    case 'late':
      return { result: failed(file, 'the time for tests is over'), error: null }
    case 'broken':
      return { result: failed(file, outcome.reason), error: null }
  }
}

function failed(file: string, trouble: string): TestResult {
  const nothing = { durationMs: 0, steps: [], planned: 0, notes: [] }
  return { file, name: file, ...nothing, trouble }
}

/** Distinguishes folders of tests from those of checks. */
function ownerOf(stateDir: string): string {
  return `tests of ${stateDir}`
}
