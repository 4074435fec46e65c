/** Finds the groups for which a file was saved since their last deploy. Pure functions. */
import type { Group } from '../../../resources/vclgroup.js'

type User = Pick<Group, 'id' | 'name' | 'console' | 'mainVCL' | 'wish'>

/** Returns groups whose next deploy would use another version; groups of the console are deployed in the console. */
export function findBehind<T extends User>(
  users: readonly T[],
  { id, version }: { readonly id: number; readonly version: number },
): readonly T[] {
  return users.filter(({ console, mainVCL, wish }) => {
    const isPinned = mainVCL?.id === id && mainVCL.version !== undefined
    if (console || isPinned) return false
    const pins = wish ? [wish.mainVCL, ...wish.includes] : []
    return pins.find((pin) => pin.id === id)?.version !== version
  })
}
