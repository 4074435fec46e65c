/** A rollout policy, as its form holds it and as the API accepts it. Pure functions. */
import type { GateName, GateRule, GivenPolicy, WaveRule } from '../../../../resources/rollout.js'

export type WaveKind = keyof WaveRule

export interface WaveFields {
  readonly kind: WaveKind
  /** For `count` and `percent`. */
  readonly amount: string
  /** For `tags` and `agents`. */
  readonly ids: readonly number[]
}

export interface GateFields {
  readonly name: GateName
  /** Keyed by the API's names. Empty: the default. */
  readonly texts: Readonly<Record<string, string>>
}

interface PolicyFields {
  readonly waves: readonly WaveFields[]
  readonly bake: string
  readonly maxBake: string
  readonly gates: readonly GateFields[]
  readonly onFailure: string
  readonly onInconclusive: string
  readonly banOnRollback: boolean
}

interface GateInput {
  readonly key: keyof GateRule
  readonly label: string
  /** The default if left empty; empty: no comparison. */
  readonly usual: string
  /** A fraction of 1 in the API, a percentage in the form. */
  readonly isShare?: boolean
}

const times: GateInput = { key: 'factor', label: 'Or at most, times of before', usual: '' }
const share: GateInput = { key: 'max', label: 'At most, %', usual: '1', isShare: true }

/** The inputs of each gate, in addition to `commonInputs`. */
const gateInputs: Readonly<Record<GateName, readonly GateInput[]>> = {
  errors: [share, times],
  hitRatio: [{ key: 'drop', label: 'May drop by, points', usual: '10', isShare: true }],
  backendFailures: [share, times],
  firstByte: [
    { key: 'percentile', label: 'Percentile', usual: '95' },
    { key: 'factor', label: 'At most, times of before', usual: '2' },
    { key: 'maxMs', label: 'Or at most, ms', usual: '' },
  ],
  backendsHealthy: [{ key: 'min', label: 'At least', usual: '1' }],
  restarts: [],
  probe: [
    { key: 'path', label: 'Path', usual: '/health' },
    { key: 'host', label: 'Host', usual: '' },
    { key: 'status', label: 'Status', usual: '200' },
    { key: 'bodyContains', label: 'Body contains', usual: '' },
    { key: 'every', label: 'Every, seconds', usual: '5' },
  ],
  webhook: [{ key: 'webhook', label: 'Webhook', usual: '' }],
}

const commonInputs: readonly GateInput[] = [
  { key: 'for', label: 'For, seconds', usual: '10' },
  { key: 'minRequests', label: 'From requests on', usual: '100' },
]
/** Gates that count no requests, although the API returns `minRequests` for all gates. */
const withoutRequests: readonly GateName[] = ['backendsHealthy', 'probe', 'webhook']

export function listInputs(name: GateName): readonly GateInput[] {
  return [...gateInputs[name], ...commonInputs]
}

/** Returns the inputs that apply to this gate. */
export function listShownInputs(name: GateName): readonly GateInput[] {
  const isCounted = !withoutRequests.includes(name)
  return listInputs(name).filter(({ key }) => key !== 'minRequests' || isCounted)
}

const textKeys: readonly string[] = ['path', 'host', 'bodyContains']

const starting: GivenPolicy = {
  waves: [{ count: 1 }, { percent: 10 }, { percent: 50 }],
  gates: [{ name: 'errors' }, { name: 'backendFailures' }],
}

/** Null: the initial fields of a new policy. */
export function readPolicyFields(policy: GivenPolicy | null): PolicyFields {
  const { waves, bake, maxBake, gates = [], ...rest } = policy ?? starting
  return {
    waves: waves.map(readWave),
    bake: toText(bake),
    maxBake: toText(maxBake),
    // The API adds the restarts gate to every policy.
    gates: gates.filter(({ name }) => name !== 'restarts').map(readGate),
    onFailure: rest.onFailure ?? 'rollback',
    onInconclusive: rest.onInconclusive ?? 'continue',
    banOnRollback: rest.banOnRollback ?? false,
  }
}

function readWave(rule: WaveRule): WaveFields {
  const { count, percent, tags, agents } = rule
  const ids = (tags ?? agents ?? []).map(({ id }) => id)
  if (tags || agents) return { kind: tags ? 'tags' : 'agents', amount: '', ids }
  return { kind: count === undefined ? 'percent' : 'count', amount: toText(count ?? percent), ids }
}

function readGate(rule: GateRule): GateFields {
  const texts = listInputs(rule.name).map(({ key, isShare = false }) => {
    const value = rule[key]
    const shown = typeof value === 'object' ? value.id : value
    return [key, toText(isShare && typeof shown === 'number' ? scale(shown, 100) : shown)]
  })
  return { name: rule.name, texts: Object.fromEntries(texts) as GateFields['texts'] }
}

function toText(value: string | number | undefined): string {
  return value === undefined ? '' : String(value)
}

/** 7 %, not 7.000000000000001 %. */
function scale(value: number, factor: number): number {
  return Number((value * factor).toPrecision(12))
}

/** Builds the API body. The API validates it: it refuses non-numbers, and the error is shown at the field. */
export function toPolicy(fields: PolicyFields): GivenPolicy {
  const { waves, bake, maxBake, gates, onFailure, onInconclusive, banOnRollback } = fields
  const policy = {
    waves: waves.map(toWave),
    ...(bake !== '' && { bake: toNumber(bake) }),
    ...(maxBake !== '' && { maxBake: toNumber(maxBake) }),
    gates: gates.map(toGate),
    onFailure,
    onInconclusive,
    banOnRollback,
  }
  return policy as GivenPolicy // validated by the API
}

function toWave({ kind, amount, ids }: WaveFields): object {
  const isNamed = kind === 'tags' || kind === 'agents'
  return { [kind]: isNamed ? ids.map((id) => ({ id })) : toNumber(amount) }
}

function toGate({ name, texts }: GateFields): object {
  const given = listInputs(name)
    .filter(({ key }) => (texts[key] ?? '') !== '')
    .map((input) => [input.key, toLimit(input, texts[input.key] ?? '')] as const)
  return { name, ...Object.fromEntries(given) }
}

function toLimit({ key, isShare = false }: GateInput, text: string): unknown {
  if (textKeys.includes(key)) return text
  const value = toNumber(text)
  if (key === 'webhook') return { id: value }
  return isShare && typeof value === 'number' ? scale(value, 0.01) : value
}

function toNumber(text: string): number | string {
  const value = Number(text.replace(',', '.'))
  return text.trim() === '' || Number.isNaN(value) ? text : value
}

/** "1 cache, 10 %, then the rest". */
export function describeWaves(waves: readonly WaveRule[]): string {
  const parts = waves.map(({ count, percent, tags }) => {
    if (count !== undefined) return count === 1 ? '1 cache' : `${count} caches`
    if (percent !== undefined) return `${percent} %`
    return tags ? 'caches by tags' : 'named caches'
  })
  return `${parts.join(', ')}, then the rest`
}
