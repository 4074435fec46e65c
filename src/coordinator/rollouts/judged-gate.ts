/** The verdict of a gate, for one agent or for all, and its description. Pure. */
import type { GateRecord } from '../fleet/rollout-queries.js'
import type { GateName } from '../../resources/rollout.js'

/** `agent` null: all agents that have switched. */
export type JudgedGate = Omit<GateRecord, 'at'>

export function blank(name: GateName): JudgedGate {
  const nothing = { baseline: null, control: null, observed: null, limit: null, reason: null }
  return { name, agent: null, ...nothing, verdict: 'inconclusive' }
}

export function inconclusive(name: GateName, reason: string): JudgedGate {
  return { ...blank(name), reason }
}

export function over(
  name: GateName,
  {
    observed,
    limit,
    isOver,
  }: { readonly observed: number; readonly limit: number; readonly isOver: boolean },
): JudgedGate {
  return { ...blank(name), observed, limit, verdict: isOver ? 'fail' : 'pass' }
}

/** For example `errors on edge-1: 0.053, limit 0.01`. */
export function describeGate({ name, agent, observed, limit, reason }: JudgedGate): string {
  const where = `${name} on ${agent?.name ?? 'all'}`
  if (reason !== null || observed === null) return `${where}: ${reason ?? 'not known'}`
  return `${where}: ${round(observed)}${limit === null ? '' : `, limit ${round(limit)}`}`
}

function round(value: number): string {
  return String(Number(value.toPrecision(3)))
}
