/**
 * Plans the steps from a cache's actual settings to the desired ones. The cache prints a parameter in its own form (`10` as `10.000`), so
 * its output right after setting is stored, and changes are detected against that.
 *
 * What the agent sets is recorded, like the VCL that it loads, and reset once it is no longer wanted. All other settings are left alone.
 */
import { Type } from 'typebox'
import { orNull, text, type Fitting } from '../resources/json-fields.js'
import { isSettableParameter } from './engine-command.js'
import {
  desiredParam,
  findHealth,
  type BackendHealth,
  type DesiredParam,
  type DesiredHealth,
  type DesiredSettings,
} from './engine-settings.js'

export type SettingStep =
  | { readonly do: 'set-param'; readonly name: string; readonly value: string }
  | { readonly do: 'reset-param'; readonly name: string }
  | {
      readonly do: 'set-health'
      readonly vcl: string
      readonly backend: string
      readonly health: BackendHealth
    }

const ownParam = Type.Object({
  ...desiredParam.properties,
  /** The cache's output after setting; null if setting was started but not confirmed. */
  shown: orNull(text),
})
export type OwnParam = Fitting<typeof ownParam>

/** Settings that the agent itself made on its cache. */
export const ownSettings = Type.Object({
  /** In the order in which the cache accepted them. */
  params: Type.Array(ownParam),
  /** `<VCL>.<backend>` */
  backends: Type.Array(text),
})
export type OwnSettings = Fitting<typeof ownSettings>

export const nothingSet: OwnSettings = { params: [], backends: [] }

export interface ShownBackend {
  readonly vcl: string
  readonly backend: string
  /** `probe`, `auto`, `healthy`, `sick`; without a probe, `healthy` may mean either. */
  readonly adminHealth: string
  /** Also true for a director with backends. */
  readonly isProbed: boolean
}

export interface ShownSettings {
  /** As printed; null if this release lacks the parameter. */
  readonly params: ReadonlyMap<string, string | null>
  /** Null if the cache cannot be asked now, because its child is not running or would not survive it. */
  readonly backends: readonly ShownBackend[] | null
}

interface SettingsInput {
  readonly desired: DesiredSettings
  readonly own: OwnSettings
  readonly shown: ShownSettings
  /** Managed VCLs; backends of other VCLs are left alone. */
  readonly managed: ReadonlySet<string>
  /** Keys of settings to leave unchanged for now. */
  readonly skipped: ReadonlySet<string>
}

/** Returns no steps if everything is as desired or cannot be set now. */
export function planSettings(input: SettingsInput): readonly SettingStep[] {
  const steps = [...planParams(input), ...planBackends(input)]
  return steps.filter((step) => !input.skipped.has(keyOf(step)))
}

/** Parameters by name, backends by VCL and name; no parameter name contains a dot. */
export function keyOf(step: SettingStep): string {
  return step.do === 'set-health' ? `${step.vcl}.${step.backend}` : step.name
}

/** For logs and drift reports. */
export function describeSetting(step: SettingStep): string {
  switch (step.do) {
    case 'set-param':
      return `set ${step.name} to ${step.value}`
    case 'reset-param':
      return `reset ${step.name}`
    case 'set-health':
      return `set ${keyOf(step)} to ${step.health}`
  }
}

/** The desired parameters that users are allowed to set (docs/behaviour.md, Cache settings). */
export function settableParams({ params = [] }: DesiredSettings): readonly DesiredParam[] {
  return params.filter(({ name }) => isSettableParameter(name))
}

function planParams({ desired, own, shown }: SettingsInput): SettingStep[] {
  const wanted = settableParams(desired)
  const ownByName = new Map(own.params.map((param) => [param.name, param]))
  const names = new Set(wanted.map(({ name }) => name))
  return [
    ...own.params
      .filter(({ name }) => !names.has(name))
      .map(({ name }): SettingStep => ({ do: 'reset-param', name })),
    ...wanted
      .filter((param) => !isShown(param, ownByName.get(param.name), shown))
      .map(({ name, value }): SettingStep => ({ do: 'set-param', name, value })),
  ]
}

function isShown(
  param: DesiredParam,
  own: OwnParam | undefined,
  { params }: ShownSettings,
): boolean {
  if (own?.shown == null || own.value !== param.value) return false
  return params.get(param.name) === own.shown
}

function planBackends({ desired, own, shown, managed }: SettingsInput): SettingStep[] {
  const rules = desired.health ?? []
  const ownNames = new Set(own.backends)
  return (shown.backends ?? []).flatMap((backend): SettingStep[] => {
    const { vcl, backend: name } = backend
    if (!managed.has(vcl)) return []
    const health = findWanted(rules, backend, ownNames.has(`${vcl}.${name}`))
    return health === null ? [] : [{ do: 'set-health', vcl, backend: name, health }]
  })
}

/** Returns null if the backend is as desired. */
function findWanted(
  rules: readonly DesiredHealth[],
  { vcl, backend, adminHealth, isProbed }: ShownBackend,
  isOwn: boolean,
): BackendHealth | null {
  const wanted = findHealth(rules, vcl, backend)
  if (wanted === 'healthy' || wanted === 'sick') return adminHealth === wanted ? null : wanted
  if (isOwn) return 'auto'
  const isOverridden = adminHealth === 'sick' || (adminHealth === 'healthy' && isProbed)
  return wanted === 'auto' && isOverridden ? 'auto' : null
}
