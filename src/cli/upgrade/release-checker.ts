/** What can say whether a release of the cache takes a VCL, and knows a parameter. */
import type { CacheRelease } from '../../resources/cache-release.js'
import type { Fields } from '../api-shapes.js'

export interface ReleaseChecker {
  /** `edge-9 (Vinyl 9.0.1)`. */
  readonly title: string
  readonly release: CacheRelease
  /** What is deployed of a group. Answers the compiler's words in the author's files; null: it compiles. */
  readonly compile: (group: Fields) => Promise<string | null>
  readonly knows: (parameter: string) => Promise<boolean>
}
