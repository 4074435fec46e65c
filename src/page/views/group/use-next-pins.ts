/** The files of a group at the versions that its next deploy would pin. */
import type { Group, GroupFile, Pins } from '../../api/group.js'
import { useObject } from '../../api/object.js'
import { mayRead } from '../../session/rights.js'
import { pinGroup } from './compare-pins.js'

/** Null: not known yet, or not for this person. */
export function useNextPins({ mainVCL, includes }: Group): Pins | null {
  const ids = [mainVCL, ...includes].flatMap((file) => file?.id ?? [])
  const isAsked = mayRead('file') && ids.length > 0
  const files = useObject<readonly GroupFile[]>(isAsked ? `/files?id=${ids.join(',')}` : null)
  return files.value && pinGroup({ mainVCL, includes }, files.value)
}
