/** The newest rollouts of a group; read again as they, or what is placed for the one that runs, change. */
import { useEffect } from 'preact/hooks'
import { isEnded, rolloutStates, type Rollout } from '../../../../resources/rollout.js'
import type { Group } from '../../../../resources/vclgroup.js'
import type { CallError } from '../../../api/http.js'
import { useObject } from '../../../api/object.js'

export interface Rollouts {
  /** The newest first. */
  readonly known: readonly Rollout[]
  /** The one that switches waves, or back; null: none does. */
  readonly running: Rollout | null
  readonly error: CallError | null
  readonly reload: () => void
}

const shownMost = 20
/** So often a coordinator writes down how far a bake is, which no event tells. */
const bakeWrittenMs = 2_000

/** Null: the group is not read yet. */
export function useRollouts(group: Group | null): Rollouts {
  const id = group?.id
  const isAsked = group !== null && !group.console
  const path = `/rollouts?vclGroup.id=${id ?? ''}&sort=id:desc&take=${shownMost}`
  const { value, error, reload } = useObject<readonly Rollout[]>(isAsked ? path : null, {
    follow: 'rollout',
    // Its events carry it whole.
    concerns: (data) => (data as Partial<Rollout>).vclGroup?.id === id,
  })
  const known = value ?? []
  const isRunning = ({ state }: Rollout) => state > rolloutStates.Loading && !isEnded(state)
  const running = known.find(isRunning) ?? null
  // How far its agents are is told of the group.
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

/** With its agents, which lists leave out of large ones; null: they are not read yet. */
export function useWhole(rollout: Rollout): Rollout | null {
  const { id, waves, state } = rollout
  const isLarge = waves.some(({ agents }) => agents === undefined)
  const { value, reload } = useObject<Rollout>(isLarge ? `/rollouts/${id}` : null)
  const isMoving = state === rolloutStates.Switching || state === rolloutStates.RollingBack
  // While it bakes, or is over, its agents stay as they are.
  useEffect(() => {
    if (isLarge) reload()
  }, [isMoving ? rollout : state])
  if (!isLarge) return rollout
  return value && { ...rollout, waves: value.waves }
}
