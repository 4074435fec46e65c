/** Checks whether a release of the cache accepts a VCL and knows a parameter. */
import type { CacheRelease } from '../../resources/cache-release.js'
import type { Fields } from '../api-shapes.js'

export interface ReleaseChecker {
  /** For example `edge-9 (Vinyl 9.0.1)`. */
  readonly title: string
  readonly release: CacheRelease
  /** Compiles a group's deployed VCL. Returns the compiler's message with the author's file names; null if it compiles. */
  readonly compile: (group: Fields) => Promise<string | null>
  readonly knows: (parameter: string) => Promise<boolean>
}
