/** The state of a policy form while it is edited: rows that can be added and removed, each with its values. */
import { signal, type Signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { GivenPolicy } from '../../../../resources/rollout.js'
import {
  listInputs,
  readPolicyFields,
  toPolicy,
  type GateFields,
  type WaveFields,
  type WaveKind,
} from './policy-fields.js'

export interface WaveRow {
  readonly key: number
  readonly kind: Signal<string>
  readonly amount: Signal<string>
  readonly ids: Signal<readonly number[]>
}

export interface GateRow {
  readonly key: number
  readonly name: GateFields['name']
  readonly texts: Readonly<Record<string, Signal<string>>>
}

export interface PolicyForm {
  readonly waves: Signal<readonly WaveRow[]>
  readonly gates: Signal<readonly GateRow[]>
  readonly bake: Signal<string>
  readonly maxBake: Signal<string>
  readonly onFailure: Signal<string>
  readonly onInconclusive: Signal<string>
  readonly banOnRollback: Signal<boolean>
  readonly addWave: () => void
  readonly addGate: (name: GateFields['name']) => void
  readonly read: () => GivenPolicy
}

/** `start`: the policy being changed, read once; null: a new one. */
export function usePolicyForm(start: GivenPolicy | null): PolicyForm {
  return useMemo(() => makePolicyForm(start), [])
}

function makePolicyForm(start: GivenPolicy | null): PolicyForm {
  const fields = readPolicyFields(start)
  let made = 0
  const toWaveRow = ({ kind, amount, ids }: WaveFields): WaveRow => ({
    key: made++,
    kind: signal<string>(kind),
    amount: signal(amount),
    ids: signal(ids),
  })
  const toGateRow = ({ name, texts }: GateFields): GateRow => {
    const signals = listInputs(name).map(({ key }) => [key, signal(texts[key] ?? '')] as const)
    return { key: made++, name, texts: Object.fromEntries(signals) }
  }
  const waves = signal(fields.waves.map(toWaveRow))
  const gates = signal(fields.gates.map(toGateRow))
  const [bake, maxBake] = [signal(fields.bake), signal(fields.maxBake)]
  const [onFailure, onInconclusive] = [signal(fields.onFailure), signal(fields.onInconclusive)]
  const banOnRollback = signal(fields.banOnRollback)
  return {
    waves,
    gates,
    bake,
    maxBake,
    onFailure,
    onInconclusive,
    banOnRollback,
    addWave: () => {
      waves.value = [...waves.value, toWaveRow({ kind: 'percent', amount: '', ids: [] })]
    },
    addGate: (name) => {
      gates.value = [...gates.value, toGateRow({ name, texts: {} })]
    },
    read: () =>
      toPolicy({
        waves: waves.value.map(({ kind, amount, ids }) => ({
          kind: kind.value as WaveKind, // one of the select's options
          amount: amount.value,
          ids: ids.value,
        })),
        gates: gates.value.map(({ name, texts }) => ({ name, texts: readTexts(texts) })),
        bake: bake.value,
        maxBake: maxBake.value,
        banOnRollback: banOnRollback.value,
        onFailure: onFailure.value,
        onInconclusive: onInconclusive.value,
      }),
  }
}

function readTexts(texts: GateRow['texts']): GateFields['texts'] {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, text.value]))
}
