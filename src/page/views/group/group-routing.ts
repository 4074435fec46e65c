/** Caches with the same routing VCL are told together: values in, values out. */
import type { AgentRouting } from '../../api/group.js'

export interface AlikeRouting {
  readonly source: string
  readonly agents: readonly string[]
}

export function groupRouting(all: readonly AgentRouting[]): readonly AlikeRouting[] {
  const bySource = new Map<string, string[]>()
  for (const { agent, source } of all)
    bySource.set(source, [...(bySource.get(source) ?? []), agent.name])
  return [...bySource].map(([source, agents]) => ({ source, agents }))
}
