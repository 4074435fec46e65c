/** The files of a group with the versions that its next deploy would pin. */
import type { Group, Pins } from '../../../resources/vclgroup.js'
import type { FleetFile } from '../../../resources/file.js'
import { useObject } from '../../api/object.js'
import { mayRead } from '../../session/rights.js'
import { pinGroup } from './compare-pins.js'

export interface NextPins {
  /** Null: the user may not read the files. */
  readonly pins: Pins | null
  /** False while loading. */
  readonly isKnown: boolean
  /** Versions of the group's tests, which always run in the newest version. */
  readonly testVersions: readonly number[]
}

export function useNextPins({ mainVCL, includes, tests }: Group): NextPins {
  const ids = [mainVCL, ...includes, ...tests].flatMap((file) => file?.id ?? [])
  const isAsked = mayRead('file') && ids.length > 0
  const path = isAsked ? `/files?id=${ids.join(',')}` : null
  const files = useObject<readonly FleetFile[]>(path, { follow: 'file' })
  return {
    pins: files.value && pinGroup({ mainVCL, includes }, files.value),
    testVersions: (files.value ?? [])
      .filter(({ id }) => tests.some((test) => test.id === id))
      .map(({ version }) => version),
    isKnown: !isAsked || files.value !== null || files.error !== null,
  }
}
