/** The plan of a deploy of a group as it is now: its files, its placements with reasons, and whether it compiles. */
import { useEffect, useRef } from 'preact/hooks'
import type { Group, PlacementReason, Pins } from '../../../resources/vclgroup.js'
import type { CallError } from '../../api/http.js'
import { useObject } from '../../api/object.js'
import { compareFiles, compareNames, isChanged } from './compare-pins.js'
import { findHindrances, findWaiting, summarizePlan, type CompileCheck } from './judge-plan.js'
import { countPlanned, planPlaces, type PlannedPlace } from './plan-places.js'
import { useCompileCheck } from './use-compile-check.js'
import { useNextPins } from './use-next-pins.js'
import { usePlacementPreview } from './use-placement-preview.js'
import { useSettled } from './use-settled.js'

export interface DeployPlan {
  /** False while it is being read. */
  readonly isKnown: boolean
  /** Null: the user may not read the files. */
  readonly next: Pins | null
  readonly filesChanged: number
  readonly places: readonly PlannedPlace[]
  readonly reasons: readonly PlacementReason[]
  readonly check: CompileCheck
  readonly checkEach: () => void
  readonly summary: string
  /** Why a deploy cannot succeed; empty: it may be attempted. */
  readonly hindrances: readonly string[]
  /** What the deploy would wait for; null: it would start at once. */
  readonly waiting: string | null
  readonly error: CallError | null
  readonly reload: () => void
}

export function useDeployPlan(group: Group): DeployPlan {
  const next = useNextPins(group)
  const preview = usePlacementPreview(group)
  const reasons = useReasons(group, preview.asked)
  const held = new Set(group.agentStates.map(({ agent }) => agent.id))
  const places = planPlaces(preview.value, reasons.value ?? [], held)
  const now = countPlanned(places, 'no change', 'added')
  const { check, checkEach } = useCompileCheck(group, next, {
    caches: now,
    isShort: preview.value?.shortage != null,
  })
  const changed = { files: countFiles(group, next.pins), domains: countDomains(group) }
  const judged = { group, places, check, shortage: preview.value?.shortage ?? null }
  return {
    isKnown: next.isKnown && reasons.isKnown && preview.isKnown,
    next: next.pins,
    filesChanged: changed.files ?? 0,
    places,
    reasons: reasons.value ?? [],
    check,
    checkEach,
    summary: summarizePlan({ ...judged, changed }),
    hindrances: findHindrances(judged),
    waiting: findWaiting(judged),
    error: reasons.error ?? preview.error,
    reload: reasons.reload,
  }
}

/** `asked`: the request that the preview belongs to. */
function useReasons(group: Group, asked: string | null) {
  const path = group.console ? null : `/vclgroups/${group.id}/placement`
  const reasons = useObject<readonly PlacementReason[]>(path)
  useSettled(group, reasons.reload)
  const before = useRef(asked)
  useEffect(() => {
    if (before.current !== null && before.current !== asked) reasons.reload()
    before.current = asked
  }, [asked])
  return { ...reasons, isKnown: reasons.value !== null || reasons.error !== null }
}

function countFiles({ wish }: Group, next: Pins | null): number | null {
  return next && compareFiles(wish, next).filter(isChanged).length
}

function countDomains({ wish, domains }: Group): number {
  const [before, after] = [wish?.domains ?? [], domains].map((all) => all.map(({ fqdn }) => fqdn))
  return compareNames(before ?? [], after ?? []).filter(({ what }) => what !== 'kept').length
}
