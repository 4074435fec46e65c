/** How much of a host a compile may take, who is held to a budget, and what an organization has left of its own. */

import { Type } from 'typebox'
import { whole, type Fitting } from '../resources/json-fields.js'

export interface CompileLimits {
  /** Of all processes of the compile together. */
  readonly cpuMs: number
  /** Of each process. */
  readonly memoryBytes: number
}

/** Present where an organization's VCL is compiled on an agent that is not its own. */
export const compileBudget = Type.Object({
  /** Its id. */
  organization: whole(1),
})
export type CompileBudget = Fitting<typeof compileBudget>

/** What `owner` compiles on an agent of `agentOwner`; null is the system administrator's, and shared. */
export function findBudget(
  owner: number | null,
  agentOwner: number | null,
): CompileBudget | undefined {
  return owner === null || owner === agentOwner ? undefined : { organization: owner }
}

const mebibyte = 1 << 20

/** A check reads the VCL without the C compiler: 229 kB take 0.12 s and 20 MB. */
export const checkLimits: CompileLimits = { cpuMs: 10_000, memoryBytes: 1024 * mebibyte }
/** The C compiler takes 158 s and 918 MB for 229 kB of plain statements (7.1.1): no manager may be deaf that long. */
export const loadLimits: CompileLimits = { cpuMs: 60_000, memoryBytes: 1024 * mebibyte }

/** Below it nothing that loadLimits would refuse was found. */
const largeBytes = 64 * 1024
/**
 * Statements that cost the C compiler most (`if(req.url){}`, time grows with the square of their number) took 1.1 s for
 * 4 KiB, 5.2 s for 8 KiB and 36 s for 16 KiB (7.1.1, the slowest release): up to 8 KiB no text exceeds 20 s.
 */
const largeBudgetedBytes = 8 * 1024
const measuredCpuMs = 20_000

/** Whether a text may cost more than its limits, so that it is compiled beside the cache before the cache loads it. */
export function mayExceed(sizeBytes: number, limits: CompileLimits, isBudgeted: boolean): boolean {
  if (!isBudgeted) return sizeBytes > largeBytes
  // The square of the size: half the size for a quarter of the time.
  const scale = Math.min(1, Math.sqrt(limits.cpuMs / measuredCpuMs))
  return sizeBytes > largeBudgetedBytes * scale
}

export function describeLimits({ cpuMs, memoryBytes }: CompileLimits): string {
  return `${cpuMs / 1000} s of CPU time and ${Math.round(memoryBytes / mebibyte)} MiB`
}

/** What an organization may compile on one agent that is not its own: so much CPU time within so long. */
export const budgetWindowMs = 600_000
export const budgetCpuMs = 120_000

export interface CompileCost {
  readonly endedAtMs: number
  readonly cpuMs: number
}

/** Those that still count. */
export function keepRecent(costs: readonly CompileCost[], nowMs: number): readonly CompileCost[] {
  return costs.filter(({ endedAtMs }) => endedAtMs > nowMs - budgetWindowMs)
}

/** How long until the organization may compile again; 0: now. */
export function findWaitMs(costs: readonly CompileCost[], nowMs: number): number {
  const recent = keepRecent(costs, nowMs)
  let left = recent.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
  if (left < budgetCpuMs) return 0
  const awaited = recent.find(({ cpuMs }) => {
    left -= cpuMs
    return left < budgetCpuMs
  })
  return awaited === undefined ? 0 : awaited.endedAtMs + budgetWindowMs - nowMs
}
