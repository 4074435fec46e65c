/** Sets one value on the cache. It is saved first, so that the agent can restore the default after a kill. */
import { backendSetHealth } from '../../../protocol/commands/backend.js'
import { paramReset, paramSet } from '../../../protocol/commands/param.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import { paramShowText } from '../../../protocol/text/param-show.js'
import type { Context } from '../../context.js'
import type { OwnParam, SettingStep } from '../../vcl/settings-plan.js'
import type { Engine } from '../engine/engine.js'
import type { SavedState } from './saved-state.js'
import type { SettingsMemory } from './settings-memory.js'

export interface SettingsTools {
  readonly context: Context
  readonly engine: Engine
  readonly state: SavedState
  readonly settings: SettingsMemory
}

/** Returns the cache's note, mostly empty. Rejects with a refusal, which leaves it unchanged, or with a connection error. */
export async function runSetting(tools: SettingsTools, step: SettingStep): Promise<string> {
  switch (step.do) {
    case 'set-param':
      return setParam(tools, step.name, step.value)
    case 'reset-param':
      return resetParam(tools, step.name)
    case 'set-health':
      return setHealth(tools, step)
  }
}

async function setParam(tools: SettingsTools, name: string, value: string): Promise<string> {
  const { engine, context, state } = tools
  const before = state.record.settings.params
  await keepParam(tools, { name, value, shown: null })
  try {
    const note = await engine.run(context, paramSet(name, value))
    // `+http2` modifies the current value: starting from the default gives the same result after a restart and at any time.
    if (/^[+-]/.test(value) && !isNumber(value)) {
      await putBack(tools, name)
      await engine.run(context, paramSet(name, value))
    }
    const { value: shown } = await engine.run(context, paramShowText(name))
    await keepParam(tools, { name, value, shown: typeof shown === 'string' ? shown : null })
    return note.trim()
  } catch (error) {
    if (error instanceof ManagementPortError && error.kind !== 'lost' && error.kind !== 'timeout')
      await keepParams(tools, before)
    throw error
  }
}

function isNumber(value: string): boolean {
  return /^[+-][\d.]/.test(value)
}

async function resetParam(tools: SettingsTools, name: string): Promise<string> {
  await putBack(tools, name)
  const { params } = tools.state.record.settings
  await keepParams(
    tools,
    params.filter((param) => param.name !== name),
  )
  return ''
}

/**
 * Restores the default. For bits such as those of `feature`, a reset adds the default bits to the current value, and up to 7.4
 * the word `none` leaves some of them set (tested on 7.1.1): there each bit is inverted first.
 */
async function putBack(tools: SettingsTools, name: string): Promise<void> {
  const { engine, context } = tools
  await resetOnce(tools, name)
  const { value, default: standard } = await engine.run(context, paramShowText(name))
  if (typeof value !== 'string' || value === standard) return
  const turned = turnBits(value)
  if (turned === null) return
  await engine.run(context, paramSet(name, turned))
  await resetOnce(tools, name)
}

/** Inverts bits as printed: `+a,+b`, from 7.5 on after `none` or `all`. Null: the value has no bits, or none is set. */
function turnBits(shown: string): string | null {
  const words = shown.split(',')
  // All bits, in one word (7.7).
  if (shown === 'all') return 'none'
  if (shown === 'none') return 'all'
  const bits = words.filter((word) => word !== 'none' && word !== 'all')
  if (bits.length === 0 || !bits.every((bit) => /^[+-]\w+$/.test(bit))) return null
  return bits.map((bit) => (bit.startsWith('+') ? '-' : '+') + bit.slice(1)).join(',')
}

/** Before 6.0.5 and in 6.1 there is no `param.reset`. */
async function resetOnce({ engine, context }: SettingsTools, name: string): Promise<void> {
  if (engine.capabilities.hasCommand('param.reset')) {
    await engine.run(context, paramReset(name))
    return
  }
  const { default: standard } = await engine.run(context, paramShowText(name))
  if (standard !== null) await engine.run(context, paramSet(name, standard))
}

async function setHealth(
  tools: SettingsTools,
  { vcl, backend, health }: Extract<SettingStep, { do: 'set-health' }>,
): Promise<string> {
  const { engine, context } = tools
  const name = `${vcl}.${backend}`
  if (health !== 'auto') await keepBackend(tools, name, true)
  await engine.run(context, backendSetHealth(name, health))
  if (health === 'auto') await keepBackend(tools, name, false)
  return ''
}

/** Keeps its position in the list, and so the order in which the cache accepted the parameters. */
async function keepParam(tools: SettingsTools, param: OwnParam): Promise<void> {
  const { params } = tools.state.record.settings
  const isKnown = params.some(({ name }) => name === param.name)
  await keepParams(
    tools,
    isKnown ? params.map((one) => (one.name === param.name ? param : one)) : [...params, param],
  )
}

async function keepParams({ state }: SettingsTools, params: readonly OwnParam[]): Promise<void> {
  await state.change({ settings: { ...state.record.settings, params } })
}

/** Drops VCL that is no longer managed: it is gone, and so are the settings made on it. */
async function keepBackend(tools: SettingsTools, name: string, isSet: boolean): Promise<void> {
  const { state } = tools
  const { settings, ours } = state.record
  const others = settings.backends.filter(
    (one) => one !== name && ours.includes(one.slice(0, one.indexOf('.'))),
  )
  const backends = isSet ? [...others, name] : others
  if (backends.join() !== settings.backends.join())
    await state.change({ settings: { ...settings, backends } })
}
