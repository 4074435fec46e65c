/** Carries out each instruction of the coordinator on this agent's cache. */
import { typedLine } from '../../../protocol/command.js'
import type { Context } from '../../context.js'
import { judgeCommand } from '../../vcl/engine-command.js'
import type { Asking } from '../../messages/coordinator-to-agent.js'
import type { TopAnswer, TopQuestion } from '../../messages/live-log.js'
import { showRunning } from '../apply/adopt.js'
import type { Engine } from '../engine/engine.js'
import type { AnswerOutcome, ApplyOutcomeReport, InstructionHandlers } from './instructions.js'
import { findDeadly } from '../engine/deadly-commands.js'
import { answerQuery } from './queries.js'
import type { Desire } from '../apply/apply-result.js'
import type { Reconciler } from '../apply/reconciler.js'
import type { SavedState } from '../apply/saved-state.js'
import { setHealth, setParameter } from '../apply/set-setting.js'
import type { SettingsTools } from '../apply/setting-steps.js'
import type { SettingsMemory } from '../apply/settings-memory.js'
import type { SourceChecks } from '../check/source-checks.js'
import { compileSource } from '../check/compile-check.js'
import type { Sources } from '../apply/sources.js'
import type { VclTester } from '../tests/vcl-tester.js'
import type { Takeover } from '../../vcl/takeover.js'

interface HandlerParts {
  readonly engine: Engine
  readonly state: SavedState
  readonly sources: Sources
  readonly settings: SettingsMemory
  readonly reconciler: Reconciler
  readonly takeover: Takeover
  readonly checks: SourceChecks
  /** Checks the cache; the result is reported from then on. */
  readonly checkCache: () => Promise<void>
  readonly tester: VclTester
  readonly countTop: (question: TopQuestion) => Promise<TopAnswer>
}

export function createHandlers(parts: HandlerParts): InstructionHandlers {
  return {
    apply: (message, context) => applyDesire(parts, message, context),
    query: async (message, context) =>
      done(await answerQuery({ ...parts, context }, message.query)),
    command: (message, context) => sendCommand(parts, message.line, context),
    setParam: (message, context) =>
      trySetting(parts, context, (tools) => setParameter(tools, message)),
    setHealth: (message, context) =>
      trySetting(parts, context, (tools) => setHealth(tools, message)),
    compile: (message, context) => checkSource(parts, message, context),
    showRunning: async (_, context) => {
      const { reconciler } = parts
      return done(await reconciler.runAlone(() => showRunning({ ...parts, context })))
    },
    unlock: (_, context) => unlock(parts, context),
    top: async (message) => done(await parts.countTop(message)),
    test: (message, context) => runTest(parts, message, context),
  }
}

async function applyDesire(
  parts: HandlerParts,
  desire: Desire,
  context: Context,
): Promise<ApplyOutcomeReport> {
  const { lockedBecause } = parts.state.record
  if (lockedBecause !== null) return { ...nothingApplied, error: `locked: ${lockedBecause}` }
  const result = await parts.reconciler.apply(desire, context)
  if (result.result === 'refused') return { ...nothingApplied, error: result.error }
  const { result: how, error, loaded, failures, changed, serving, interrupted, postponed } = result
  const { certificates } = result
  const isSo = interrupted && { interrupted, postponed }
  return { result: how, error, loaded, failures, changed, serving, certificates, ...isSo }
}

const nothingApplied = { result: 'refused', loaded: [], failures: [], changed: false } as const

/** The coordinator applies the same rules; an agent does not rely on that. */
async function sendCommand(
  parts: HandlerParts,
  text: string,
  context: Context,
): Promise<AnswerOutcome> {
  const judged = judgeCommand(text)
  if (judged.verdict === 'refused') return refused(judged.reason)
  if (judged.verdict === 'desired-state')
    return refused(`${judged.name} changes the cache: it is taken as desired state only`)
  const unsafe = await findDeadly(parts.engine, context, judged)
  if (unsafe !== null) return refused(unsafe)
  // A refusal by the cache is an answer too: the caller asked for the cache's message (docs/behaviour.md, Commands).
  const { body } = await parts.engine.run(context, typedLine(judged.line))
  return done(body.toString('utf8'))
}

async function trySetting(
  parts: HandlerParts,
  context: Context,
  set: (tools: SettingsTools) => Promise<AnswerOutcome>,
): Promise<AnswerOutcome> {
  const { reconciler, state } = parts
  const { lockedBecause } = state.record
  if (lockedBecause !== null) return refused(`locked: ${lockedBecause}`)
  return reconciler.runAlone(() => set({ ...parts, context }))
}

async function checkSource(
  parts: HandlerParts,
  { sha, budget, init = false }: Pick<Asking<'compile'>, 'sha' | 'budget' | 'init'>,
  context: Context,
): Promise<AnswerOutcome> {
  const { reconciler, state, checks, sources } = parts
  const { lockedBecause } = state.record
  if (lockedBecause !== null) return refused(`locked: ${lockedBecause}`)
  const text = await sources.read(sha)
  const answer = await checks.check(context, { text, budget, init })
  if (answer !== null) return done(answer)
  return done(await reconciler.runAlone(() => compileSource({ ...parts, context }, sha)))
}

async function runTest(
  { state, sources, tester }: HandlerParts,
  order: Asking<'test'>,
  context: Context,
): Promise<AnswerOutcome> {
  const { lockedBecause } = state.record
  if (lockedBecause !== null) return refused(`locked: ${lockedBecause}`)
  return done(await tester.run(context, { ...order, text: await sources.read(order.sha) }))
}

/** Makes this coordinator the agent's own; what an earlier coordinator loaded becomes unmanaged. */
async function unlock(parts: HandlerParts, context: Context): Promise<AnswerOutcome> {
  const { state, reconciler, takeover } = parts
  const { record } = state
  const { seenCoordinatorId } = record
  if (record.lockedBecause === null || seenCoordinatorId === null) return done(null)
  await reconciler.settle()
  const isSame = seenCoordinatorId === record.coordinatorId
  await state.change({
    coordinatorId: seenCoordinatorId,
    lockedBecause: null,
    rolledBackTo: null,
    heldRevision: 0,
    goodRevision: 0,
    desired: null,
    // A new takeover follows, as --takeover says; VCL of this coordinator is not adopted.
    takenOver: isSame && takeover === 'adopt' && record.takenOver,
    // Objects stored for an earlier coordinator are not for this one's tenants.
    ...(isSame ? {} : { ours: [], tenancy: 'of an earlier coordinator' }),
  })
  reconciler.forget()
  context.log.warn({ coordinatorId: seenCoordinatorId }, 'unlocked')
  await parts.checkCache()
  return done(null)
}

function done(value: unknown): AnswerOutcome {
  return { result: 'done', value, error: null }
}

function refused(error: string): AnswerOutcome {
  return { result: 'refused', value: null, error }
}
