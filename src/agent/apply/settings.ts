/**
 * Holds a cache to its desired parameters and backend health. Reads first, so that what is as it should be costs reading
 * commands only; what the cache refuses is remembered and holds nothing else up.
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

/** What is to be set; empty without a command when nothing is desired and nothing of ours is set. Rejects with ManagementPortError. */
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

/** Sets what is not set, and answers it in words. Rejects with what the connection to the cache does, or the disk. */
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
    // One that depends on another, such as a minimum on its maximum, is taken once that one is set.
    if (refused.length === 0 || refused.length === left.length) {
      rememberRefusals(tools, words)
      break
    }
    left = refused
  }
  return done
}

/** What the cache does not take, in its own words; null when there is nothing. */
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

/** The engine's words, where it refused and the connection lives on; throws all else. */
export function refusalWords(error: unknown): string {
  if (!(error instanceof ManagementPortError)) throw error
  if (error.kind !== 'rejected' && error.kind !== 'refused') throw error
  const words = error.text?.trim() ?? ''
  return words === '' ? errorText(error) : words
}

/** Those that were not tried now are known still. */
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

/** As printed, in the form that every release has; null where there is no such parameter. */
async function showParam(tools: SettingsTools, name: string): Promise<string | null> {
  try {
    const { value } = await tools.engine.run(tools.context, paramShowText(name))
    return typeof value === 'string' ? value : null
  } catch (error) {
    refusalWords(error)
    return null
  }
}

/** Those of these names in any VCL; null while the cache cannot be asked. */
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
      // The child does not run.
      if (error instanceof ManagementPortError && error.status === 101) return null
      throw error
    }
  }
  return shown
}
