/**
 * Keeps the desired parameters and backend health on a cache. It reads first, so a cache that is as desired costs only
 * reading commands. Refused settings are remembered and delay nothing else.
 */
import { ManagementPortError } from '../../../protocol/errors.js'
import { paramShowText } from '../../../protocol/text/param-show.js'
import type { DesiredSettings } from '../../vcl/engine-settings.js'
import {
  describeSetting,
  keyOf,
  planSettings,
  settableParams,
  type SettingStep,
  type ShownBackend,
  type ShownSettings,
} from '../../vcl/settings-plan.js'
import type { ProgramFailure } from '../../messages/agent-to-coordinator.js'
import { describeUnsafePattern, mayAskPattern } from '../engine/deadly-commands.js'
import { errorText } from '../engine/engine.js'
import { runSetting, type SettingsTools } from './setting-steps.js'

/** Returns the steps to run; sends no command when nothing is desired and no setting is ours. Rejects with ManagementPortError. */
export async function findUnset(
  tools: SettingsTools,
  desired: DesiredSettings,
): Promise<readonly SettingStep[]> {
  const { state, settings } = tools
  const skipped = settings.listSkipped(desired)
  const own = state.record.settings
  const shown = await readShown(tools, desired)
  return planSettings({ desired, own, shown, managed: new Set(state.record.ours), skipped })
}

/** Sets what differs and returns a description of each step. Rejects with errors of the connection or the disk. */
export async function applySettings(
  tools: SettingsTools,
  desired: DesiredSettings,
): Promise<readonly string[]> {
  let left = await findUnset(tools, desired)
  const done: string[] = []
  while (left.length > 0) {
    const refused: SettingStep[] = []
    const words: ProgramFailure[] = []
    for (const step of left) {
      const refusal = await trySetting(tools, step)
      if (refusal === null) done.push(describeSetting(step))
      else {
        refused.push(step)
        words.push({ program: keyOf(step), error: refusal })
      }
    }
    // A setting that depends on another, such as a minimum on its maximum, is accepted once the other is set.
    if (refused.length === 0 || refused.length === left.length) {
      rememberRefusals(tools, words)
      break
    }
    left = refused
  }
  return done
}

/** Returns the settings that the cache refuses, with its messages; null when there are none. */
export function describeRefusals({ settings }: Pick<SettingsTools, 'settings'>): string | null {
  const known = [...settings.refusals.listKnown()]
  return known.length === 0 ? null : known.map(([key, words]) => `${key}: ${words}`).join('; ')
}

async function trySetting(tools: SettingsTools, step: SettingStep): Promise<string | null> {
  try {
    await runSetting(tools, step)
    return null
  } catch (error) {
    const words = refusalWords(error)
    tools.context.log.warn({ setting: describeSetting(step), why: words }, 'a setting was refused')
    return words
  }
}

/** Returns the engine's message if it refused and the connection is alive; throws all other errors. */
export function refusalWords(error: unknown): string {
  if (!(error instanceof ManagementPortError)) throw error
  if (error.kind !== 'rejected' && error.kind !== 'refused') throw error
  const words = error.text?.trim() ?? ''
  return words === '' ? errorText(error) : words
}

/** Settings that were not tried now stay in the memory. */
function rememberRefusals({ settings }: SettingsTools, words: readonly ProgramFailure[]): void {
  const known = [...settings.refusals.listKnown()].map(([program, error]) => ({ program, error }))
  settings.refusals.remember([...known, ...words])
}

async function readShown(tools: SettingsTools, desired: DesiredSettings): Promise<ShownSettings> {
  const own = tools.state.record.settings
  const names = new Set([...settableParams(desired), ...own.params].map(({ name }) => name))
  const params = new Map<string, string | null>()
  for (const name of names) params.set(name, await showParam(tools, name))
  const backends = new Set([
    ...(desired.health ?? []).map(({ backend }) => backend),
    ...own.backends.map((name) => name.slice(name.indexOf('.') + 1)),
  ])
  return { params, backends: await listBackends(tools, [...backends]) }
}

/** The value as printed, in the form that every release has; null when there is no such parameter. */
async function showParam(tools: SettingsTools, name: string): Promise<string | null> {
  try {
    const { value } = await tools.engine.run(tools.context, paramShowText(name))
    return typeof value === 'string' ? value : null
  } catch (error) {
    refusalWords(error)
    return null
  }
}

/** Returns backends of these names in any VCL; null while the cache cannot be asked. */
export async function listBackends(
  { engine, context, settings }: SettingsTools,
  names: readonly string[],
): Promise<readonly ShownBackend[] | null> {
  if (names.length === 0) return []
  if (!(await mayAskPattern(engine, context))) {
    const why = describeUnsafePattern(engine)
    if (settings.isNews(why)) context.log.warn({ why }, 'backend health cannot be set here now')
    return null
  }
  const shown: ShownBackend[] = []
  for (const name of names) {
    try {
      const rows = await engine.run(context, engine.reading.backendList({ pattern: `*.${name}` }))
      for (const row of rows) {
        const dot = row.name.indexOf('.')
        const backend = row.name.slice(dot + 1)
        if (backend !== name) continue
        const { adminHealth, total } = row
        shown.push({ vcl: row.name.slice(0, dot), backend, adminHealth, isProbed: total > 0 })
      }
    } catch (error) {
      // The child is not running.
      if (error instanceof ManagementPortError && error.status === 101) return null
      throw error
    }
  }
  return shown
}
