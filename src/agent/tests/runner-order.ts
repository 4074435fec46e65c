/** Input and output of the program that runs one test file, as JSON on its standard input and output. */
import type { TestResult } from '../../resources/vcl-test-result.js'
import type { CompileLimits } from '../../vcl/compile-limits.js'

export interface RunnerOrder {
  /** Absolute path of the cache's program. */
  readonly program: string
  readonly words: readonly string[]
  /** Distinguishes this agent's folders from those of others on the host. */
  readonly owner: string
  readonly compile: CompileLimits
  readonly vcl: {
    readonly text: string
    readonly groupId: number
    readonly routed: { readonly domains: readonly string[]; readonly purgeSecret: string } | null
  }
  readonly file: { readonly name: string; readonly text: string }
  /** Null: it runs in the host's network. */
  readonly containment: { readonly ip: string; readonly through: readonly string[] } | null
}

export interface RunnerAnswer {
  readonly result: TestResult
  readonly cpuMs: number
}
