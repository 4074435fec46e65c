/** Runs the tests of a group on one agent before any agent loads its VCL (docs/behaviour.md, Tests before deploys). */
import type { Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import { runInSteps } from '../../in-steps.js'
import type { TestOrder } from '../../messages/vcl-test.js'
import { hasPassed, type TestResult } from '../../resources/vcl-test-result.js'
import { refuseInSteps } from '../../vcl/bundle.js'
import { findBudget } from '../../vcl/compile-limits.js'
import { purgeSecret } from '../../vcl/prologue.js'
import { instructAgent } from '../agents/instruct.js'
import { readFileTexts, toVclText } from '../files/file-texts.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { grantSource } from '../fleet/source-grants.js'
import { keepSource, type SourceRecord } from '../fleet/sources.js'
import type { StateService } from '../service.js'
import { chooseTesters, type Tester } from './choose-testers.js'
import { describeFailedTests } from './failed-tests.js'
import { TestQueue } from './test-queue.js'

interface Tested {
  /** The text as a deploy would load it. */
  readonly source: SourceRecord
  readonly domains: readonly string[]
  /** Run them only on an agent of this release. */
  readonly release?: string | undefined
}

/** For all tests of a group together. */
const runLimitMs = 120_000
/** Wait for other tests on the agent's host. */
const turnWaitMs = 120_000
const answerGraceMs = 10_000
/** Agents that are tried until one can run the tests. */
const maxTesters = 3

/**
 * Returns why the tests were not run; null if they passed or there are none. Throws FleetError: uncompilable if a test fails,
 * unavailable if the group requires tests and no agent can run them, limited, timed-out.
 */
export async function runGroupTests(
  service: StateService,
  context: Context,
  group: GroupRecord,
  tested: Tested,
): Promise<string | null> {
  if (group.tests.length === 0) return null
  const obstacle = await queue.run(group.organizationId, () =>
    runSomewhere(service, context, group, tested),
  )
  if (obstacle === null) return null
  const message = `the tests of ${group.name} were not run: ${obstacle}`
  if (group.requireTests) throw new FleetError('unavailable', 'deploy', message)
  return message
}

const queue = new TestQueue()

/** Returns why no agent could run the tests; null if they passed. */
async function runSomewhere(
  service: StateService,
  context: Context,
  group: GroupRecord,
  tested: Tested,
): Promise<string | null> {
  const { queries } = service.store
  const testers = await chooseTesters(queries, group, tested.release)
  const texts = await readFileTexts(
    queries,
    group.tests.map(({ id }) => ({ id, version: null })),
  )
  const files = texts.map(toVclText)
  const breach = await findBreach(service, group, tested.source)
  let obstacle: string | null = null
  for (const tester of testers.slice(0, maxTesters)) {
    const run = { service, context, group, tested, tester, breach }
    const ended = await runAll(run, files)
    if (ended === null) return null
    obstacle ??= ended
  }
  return obstacle ?? describeMissingAgent(tested.release)
}

function describeMissingAgent(release: string | undefined): string {
  const which = release === undefined ? '' : ` of release ${release}`
  return `no Running agent${which} that its organization may use has the capability tests (setting --tests)`
}

interface TestRun {
  readonly service: StateService
  readonly context: Context
  readonly group: GroupRecord
  readonly tested: Tested
  readonly tester: Tester
  readonly breach: string | undefined
}

/** Returns why this agent cannot run the tests; null if they passed. Throws if a test fails. */
async function runAll(
  run: TestRun,
  files: readonly { readonly name: string; readonly text: string }[],
): Promise<string | null> {
  const { service, tested, tester } = run
  await giveSource(run)
  const results: TestResult[] = []
  let leftMs = runLimitMs
  for (const file of files) {
    if (leftMs <= 0) break
    const ended = await ask(run, { ...file, limitMs: leftMs })
    if (typeof ended === 'string') return ended
    results.push(ended)
    leftMs -= ended.durationMs
    // VCL that does not load fails every test.
    if (ended.trouble !== null && ended.steps.length === 0) break
    if (service.background.signal.aborted) break
  }
  const failed = results.filter((result) => !hasPassed(result))
  const notRun = files.length - results.length
  if (failed.length === 0 && notRun === 0) return null
  const { sourceMap } = tested.source
  const rest = { notRun, lateSeconds: leftMs <= 0 ? runLimitMs / 1000 : null }
  const text = describeFailedTests(failed, sourceMap, rest)
  throw new FleetError('uncompilable', 'deploy', `${text}\n(agent ${tester.name})`)
}

async function giveSource({ service, tested: { source }, tester }: TestRun): Promise<void> {
  const now = service.now()
  await service.store.transaction(async (queries) => {
    await keepSource(queries, source, now)
    const expiresAt = now + turnWaitMs + runLimitMs
    await grantSource(queries, { agentId: tester.id, sha: source.sha, expiresAt }, now)
  })
}

/** Returns the result, or as a string the reason why the agent cannot run the test. */
async function ask(
  { service, context, group, tested, tester, breach }: TestRun,
  { limitMs, ...file }: TestOrder['file'] & Pick<TestOrder, 'limitMs'>,
): Promise<TestResult | string> {
  const { domains, source } = tested
  const budget = findBudget(group.organizationId, tester.organizationId)
  const secret = purgeSecret(group.cacheKey)
  const question = {
    kind: 'test' as const,
    sha: source.sha,
    group: group.id,
    file,
    waitMs: turnWaitMs,
    limitMs,
    routed: domains.length === 0 ? null : { domains, purgeSecret: secret },
    ...(budget && { budget }),
    ...(breach !== undefined && { breach }),
  }
  const timeoutMs = turnWaitMs + limitMs + answerGraceMs
  const asked = { agentId: tester.id, question, timeoutMs }
  const answer = await instructAgent(service, context, asked).catch((error: unknown) => {
    if (error instanceof FleetError && error.kind !== 'timed-out') return error.message
    throw error
  })
  if (typeof answer === 'string') return answer
  const { result, error, retryAfterSeconds } = answer
  if (result !== null) return result
  const reason = `agent ${tester.name}: ${error ?? 'it gave no reason'}`
  if (retryAfterSeconds === undefined) return reason
  throw new FleetError('limited', 'deploy', reason, { retryAfterSeconds })
}

/** Returns the first breach of the organizations' VCL policy by the system administrator's VCL; other VCL was already checked. */
async function findBreach(
  { settings }: StateService,
  { organizationId }: GroupRecord,
  { text, sourceMap }: SourceRecord,
): Promise<string | undefined> {
  if (organizationId !== null) return undefined
  const { allowedIncludes: allowedExternal, allowedModules: modules } = settings
  const rules = { allowedExternal, modules, amongOthers: false }
  const [first] = await runInSteps(refuseInSteps({ text, sourceMap }, rules))
  return first
}
