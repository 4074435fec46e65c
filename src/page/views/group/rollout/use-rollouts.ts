/** The newest rollouts of a group; reloaded when they change, or when placements of the running one change. */
import { useEffect } from 'preact/hooks'
import { isEnded, rolloutStates, type Rollout } from '../../../../resources/rollout.js'
import type { Group } from '../../../../resources/vclgroup.js'
import type { CallError } from '../../../api/http.js'
import { useObject } from '../../../api/object.js'

export interface Rollouts {
  /** Newest first. */
  readonly known: readonly Rollout[]
  /** The rollout that is switching waves or rolling back; null: none. */
  readonly running: Rollout | null
  readonly error: CallError | null
  readonly reload: () => void
}

const maxShown = 20
/** How often a coordinator stores the progress of a bake, which it does without an event. */
const bakeWrittenMs = 2_000

/** `group` is null while it is not loaded. */
export function useRollouts(group: Group | null): Rollouts {
  const id = group?.id
  const isAsked = group !== null && !group.console
  const path = `/rollouts?vclGroup.id=${id ?? ''}&sort=id:desc&take=${maxShown}`
  const { value, error, reload } = useObject<readonly Rollout[]>(isAsked ? path : null, {
    follow: 'rollout',
    // Events carry the whole rollout.
    concerns: (data) => (data as Partial<Rollout>).vclGroup?.id === id,
  })
  const known = value ?? []
  const isRunning = ({ state }: Rollout) => state > rolloutStates.Loading && !isEnded(state)
  const running = known.find(isRunning) ?? null
  // The progress of its agents arrives with the group's events.
  useEffect(() => {
    if (running) reload()
  }, [group])
  useRepeated(running?.state === rolloutStates.Baking, reload)
  return { known, running, error, reload }
}

function useRepeated(isWanted: boolean, act: () => void): void {
  useEffect(() => {
    if (!isWanted) return
    const timer = setInterval(() => {
      if (!document.hidden) act()
    }, bakeWrittenMs)
    return () => {
      clearInterval(timer)
    }
  }, [isWanted])
}

/** The rollout with its agents, which lists omit for large rollouts; null: not loaded yet. */
export function useWhole(rollout: Rollout): Rollout | null {
  const { id, waves, state } = rollout
  const isLarge = waves.some(({ agents }) => agents === undefined)
  const { value, reload } = useObject<Rollout>(isLarge ? `/rollouts/${id}` : null)
  const isMoving = state === rolloutStates.Switching || state === rolloutStates.RollingBack
  // While it bakes or after it ended, its agents do not change.
  useEffect(() => {
    if (isLarge) reload()
  }, [isMoving ? rollout : state])
  if (!isLarge) return rollout
  return value && { ...rollout, waves: value.waves }
}
