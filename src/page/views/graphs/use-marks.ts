/** The events in the shown range. */
import { useMemo } from 'preact/hooks'
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import { useObject } from '../../api/object.js'
import { mayRead } from '../../session/rights.js'
import type { Marks } from '../../../resources/mark.js'
import type { Group } from '../../../resources/vclgroup.js'
import { keepGroups } from './describe-marks.js'
import { marksPath, type Subject } from './subject.js'

const none: Marks = { marks: [], more: false }
/** Seconds: for a live range, events are reloaded with the series but no more often than this. */
const everySeconds = 15

/** `range` is null if nothing is shown yet. If the call fails, there are no marks. */
export function useMarks(
  subject: Subject,
  range: { readonly from: number; readonly to: number } | null,
): Marks {
  const path =
    range &&
    marksPath(subject, { from: range.from, to: Math.ceil(range.to / everySeconds) * everySeconds })
  // The start of a live range moves with each read.
  const key = path === null ? null : path.replace(/\/\d+\//, `/${roundDown(range?.from ?? 0)}/`)
  const read = useAnswer<Marks>(key, none, async (signal, before) => {
    if (path === null) return none
    const outcome = await call<Marks>('GET', path, { signal })
    return outcome.ok ? outcome.value : before
  })
  const groups = useGroups(subject)
  return useMemo(() => ({ ...read, marks: keepGroups(read.marks, groups) }), [read, groups])
}

/** The groups that serve a domain: deploys of other groups do not concern it; null: all groups count. */
function useGroups({ kind, ids: [id = 0] }: Subject): ReadonlySet<number> | null {
  const isAsked = kind === 'domains' && mayRead('vclgroup')
  const path = `/vclgroups?domains.id=${id}`
  const { value, error } = useObject<readonly Group[]>(isAsked ? path : null)
  return useMemo(() => {
    if (!isAsked || error) return null
    return new Set(value?.map((group) => group.id))
  }, [isAsked, value, error])
}

function roundDown(seconds: number): number {
  return Math.floor(seconds / everySeconds) * everySeconds
}
