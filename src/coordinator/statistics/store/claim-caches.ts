/** Takes over caches whose first samples arrived here, and restores their saved state. */
import { createLiveCache, replaySteps, restoreLiveCache, type LiveCache } from './live-cache.js'
import type { RowParts } from './row-reader.js'
import type { SavedCache } from './row-store.js'

/** Caches that are already here are left unchanged. */
export async function claimCaches(parts: RowParts, agentIds: readonly number[]): Promise<void> {
  const { store, caches, grid } = parts
  const fresh = [...new Set(agentIds)].filter((agentId) => !caches.has(agentId))
  if (fresh.length === 0) return
  const saved = await store.claim(fresh)
  const restored: LiveCache[] = []
  for (const agentId of fresh) restored.push(await openCache(parts, agentId, saved.get(agentId)))
  const steps = await store.readSteps(
    restored
      .filter(({ state }) => state.folded > 0)
      .map(({ agentId, state }) => ({ agentId, after: state.folded * grid.stepMs })),
  )
  for (const cache of restored) {
    replaySteps(cache, steps.get(cache.agentId) ?? [])
    caches.set(cache.agentId, cache)
  }
}

async function openCache(
  { layouts, grid }: RowParts,
  agentId: number,
  saved: SavedCache | undefined,
): Promise<LiveCache> {
  if (saved === undefined) return createLiveCache(agentId, grid)
  const { checkpoint, layout: id } = saved
  const layout = await layouts.read(id)
  return restoreLiveCache(agentId, grid, { layout, checkpoint }) ?? createLiveCache(agentId, grid)
}
