/** Which groups a file was saved for since their last deploy: values in, values out. */
import type { Group } from '../../../resources/vclgroup.js'

type User = Pick<Group, 'id' | 'name' | 'console' | 'mainVCL' | 'wish'>

/** Those whose next deploy would take another version of it; one of the console is deployed there. */
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
