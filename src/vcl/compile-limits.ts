/** Resource limits of a compile, which compiles count against a budget, and how much of it an organization has left. */

import { Type } from 'typebox'
import { whole, type Fitting } from '../resources/json-fields.js'

export interface CompileLimits {
  /** Of all processes of the compile together. */
  readonly cpuMs: number
  /** Of each process. */
  readonly memoryBytes: number
}

/** Present if an organization's VCL is compiled on an agent that it does not own. */
export const compileBudget = Type.Object({
  /** Id of the organization. */
  organization: whole(1),
})
export type CompileBudget = Fitting<typeof compileBudget>

/** The budget for VCL of `owner` on an agent of `agentOwner`; null stands for the system administrator, whose agents are shared. */
export function findBudget(
  owner: number | null,
  agentOwner: number | null,
): CompileBudget | undefined {
  return owner === null || owner === agentOwner ? undefined : { organization: owner }
}

const mebibyte = 1 << 20

/** A check compiles without the C compiler: 229 kB take 0.12 s and 20 MB. */
export const checkLimits: CompileLimits = { cpuMs: 10_000, memoryBytes: 1024 * mebibyte }
/** The C compiler takes 158 s and 918 MB for 229 kB of plain statements (7.1.1); a manager must not be unresponsive that long. */
export const loadLimits: CompileLimits = { cpuMs: 60_000, memoryBytes: 1024 * mebibyte }

/** No smaller text was found that loadLimits would refuse. */
const largeBytes = 64 * 1024
/**
 * The statements that cost the C compiler most (`if(req.url){}`, quadratic in their number) took 1.1 s for 4 KiB, 5.2 s for 8 KiB and 36 s
 * for 16 KiB (7.1.1, the slowest release). Up to 8 KiB no text exceeds 20 s.
 */
const largeBudgetedBytes = 8 * 1024
const measuredCpuMs = 20_000

/** True if a text may exceed its limits; it is then compiled beside the cache before the cache loads it. */
export function mayExceed(sizeBytes: number, limits: CompileLimits, isBudgeted: boolean): boolean {
  if (!isBudgeted) return sizeBytes > largeBytes
  // Time is quadratic in the size: half the size takes a quarter of the time.
  const scale = Math.min(1, Math.sqrt(limits.cpuMs / measuredCpuMs))
  return sizeBytes > largeBudgetedBytes * scale
}

export function describeLimits({ cpuMs, memoryBytes }: CompileLimits): string {
  return `${cpuMs / 1000} s of CPU time and ${Math.round(memoryBytes / mebibyte)} MiB`
}

/** CPU time that an organization may use per window for compiles on one agent that it does not own. */
export const budgetWindowMs = 600_000
export const budgetCpuMs = 120_000

export interface CompileCost {
  readonly endedAtMs: number
  readonly cpuMs: number
}

/** Returns the costs that are still within the window. */
export function keepRecent(costs: readonly CompileCost[], nowMs: number): readonly CompileCost[] {
  return costs.filter(({ endedAtMs }) => endedAtMs > nowMs - budgetWindowMs)
}

/** Time until the organization may compile again; 0 means now. */
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
