/**
 * Sets a parameter or the health of a backend for a caller who waits for the engine's reply. The coordinator stores the
 * accepted value and makes it desired; until then it is a trial that healing leaves alone for a short time.
 */
import { ManagementPortError } from '../../../protocol/errors.js'
import { paramShowText } from '../../../protocol/text/param-show.js'
import { isSettableParameter } from '../../vcl/engine-command.js'
import { coversVcl } from '../../vcl/engine-settings.js'
import { keyOf, type SettingStep } from '../../vcl/settings-plan.js'
import type { AnswerTo } from '../../messages/answers.js'
import type { Asking } from '../../messages/coordinator-to-agent.js'
import { describeUnsafePattern, mayAskPattern } from '../engine/deadly-commands.js'
import type { AnswerOutcome } from '../link/instructions.js'
import { toParameter } from '../link/queries.js'
import { runSetting, type SettingsTools } from './setting-steps.js'
import { listBackends, refusalWords } from './settings.js'

/** Must run alone: not during an apply or healing. */
export async function setParameter(
  tools: SettingsTools,
  { name, value }: Asking<'setParam'>,
): Promise<AnswerOutcome> {
  if (!isSettableParameter(name)) return refused(`parameter ${name} may not be changed by anyone`)
  const step: SettingStep =
    value === null ? { do: 'reset-param', name } : { do: 'set-param', name, value }
  const tried = await tryStep(tools, step, value)
  if ('refusal' in tried) return done(tried)
  const parameter = toParameter(await tools.engine.run(tools.context, paramShowText(name)))
  return done({ refusal: null, note: tried.note, parameter })
}

/** Must run alone. Returns the backends that were set: none when no managed VCL has a backend of that name. */
export async function setHealth(
  tools: SettingsTools,
  { backend, groups, health }: Asking<'setHealth'>,
): Promise<AnswerOutcome> {
  const { engine, context, state } = tools
  if (!(await mayAskPattern(engine, context))) return refused(describeUnsafePattern(engine))
  const shown = await listBackends(tools, [backend])
  if (shown === null) return failed('the child process of the cache does not run')
  const backends: string[] = []
  for (const { vcl } of shown) {
    if (!state.record.ours.includes(vcl) || !coversVcl(groups, vcl)) continue
    const step: SettingStep = { do: 'set-health', vcl, backend, health }
    const tried = await tryStep(tools, step, health === 'auto' ? null : health)
    if ('refusal' in tried) return done(tried)
    backends.push(keyOf(step))
  }
  return done({ refusal: null, backends })
}

/** Rejects with errors of the connection to the cache. */
async function tryStep(
  tools: SettingsTools,
  step: SettingStep,
  value: string | null,
): Promise<{ readonly note: string } | { readonly refusal: string }> {
  const { settings } = tools
  settings.try(keyOf(step), value)
  try {
    return { note: await runSetting(tools, step) }
  } catch (error) {
    settings.endTrial(keyOf(step))
    // The child is gone, which is no verdict on the setting.
    if (error instanceof ManagementPortError && error.status === 400) throw error
    return { refusal: refusalWords(error) }
  }
}

function done(value: AnswerTo<Asking<'setParam' | 'setHealth'>>): AnswerOutcome {
  return { result: 'done', value, error: null }
}

function refused(error: string): AnswerOutcome {
  return { result: 'refused', value: null, error }
}

function failed(error: string): AnswerOutcome {
  return { result: 'failed', value: null, error }
}
