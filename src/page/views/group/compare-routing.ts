/** Compares routing VCLs and groups the caches with the same change. Pure functions. */
import type { AgentRouting } from '../../../resources/vclgroup.js'

interface RoutingChange {
  /** The removed lines, then the added ones, with their signs. */
  readonly diff: string
  readonly agents: readonly string[]
}

/** A cache in only one of the two lists has no routing on the other side. */
export function compareRouting(
  now: readonly AgentRouting[],
  next: readonly AgentRouting[],
): readonly RoutingChange[] {
  const sources = new Map<string, { now: string; next: string }>()
  for (const { agent, source } of now) sources.set(agent.name, { now: source, next: '' })
  for (const { agent, source } of next)
    sources.set(agent.name, { now: sources.get(agent.name)?.now ?? '', next: source })
  const agents = new Map<string, string[]>()
  for (const [name, pair] of sources) {
    const diff = compareLines(pair.now, pair.next)
    if (diff !== '') agents.set(diff, [...(agents.get(diff) ?? []), name])
  }
  return [...agents].map(([diff, names]) => ({ diff, agents: names }))
}

/** Each relevant line of a routing VCL occurs once: a name and its target. */
function compareLines(now: string, next: string): string {
  const before = linesOf(now)
  const after = linesOf(next)
  const [known, coming] = [new Set(before), new Set(after)]
  return [
    ...before.filter((line) => !coming.has(line)).map((line) => `-${line}`),
    ...after.filter((line) => !known.has(line)).map((line) => `+${line}`),
  ].join('\n')
}

function linesOf(source: string): readonly string[] {
  return source.split('\n').filter((line) => line !== '')
}
