/**
 * The steps from what a cache is set to to what it must be set to. The cache prints a parameter otherwise than it was
 * written (`10` as `10.000`), so what it printed right after we set it is kept, and a change is seen against that.
 *
 * What we set is written down like the VCL we load: it is what we put back when it is no longer wanted. All else is left alone.
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
  /** As the cache printed it when it was set; null: it was begun, and not seen done. */
  shown: orNull(text),
})
export type OwnParam = Fitting<typeof ownParam>

/** What the agent itself set on its cache. */
export const ownSettings = Type.Object({
  /** In the order in which the cache took them. */
  params: Type.Array(ownParam),
  /** `<VCL>.<backend>` */
  backends: Type.Array(text),
})
export type OwnSettings = Fitting<typeof ownSettings>

export const nothingSet: OwnSettings = { params: [], backends: [] }

export interface ShownBackend {
  readonly vcl: string
  readonly backend: string
  /** `probe`, `auto`, `healthy`, `sick`; without a probe `healthy` may be either. */
  readonly adminHealth: string
  /** Or a director with backends. */
  readonly isProbed: boolean
}

export interface ShownSettings {
  /** As printed; null: this release has no such parameter. */
  readonly params: ReadonlyMap<string, string | null>
  /** Null: the cache cannot be asked now, its child does not run or would not survive it. */
  readonly backends: readonly ShownBackend[] | null
}

interface SettingsInput {
  readonly desired: DesiredSettings
  readonly own: OwnSettings
  readonly shown: ShownSettings
  /** VCLs of managed; the backends of others are not touched. */
  readonly managed: ReadonlySet<string>
  /** Keys of settings to leave as they are for now. */
  readonly skipped: ReadonlySet<string>
}

/** Empty when all is as desired, or cannot be set now. */
export function planSettings(input: SettingsInput): readonly SettingStep[] {
  const steps = [...planParams(input), ...planBackends(input)]
  return steps.filter((step) => !input.skipped.has(keyOf(step)))
}

/** Parameters by name, backends with their VCL: no parameter has a dot. */
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

/** What of a desired state can be asked of a cache: nobody may set the others, whoever wants it (docs/behaviour.md, Cache settings). */
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

/** Null: it is as it should be. */
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
