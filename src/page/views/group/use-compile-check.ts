/** Checks on real caches that a group compiles as it would be deployed: when its workspace opens and after changes. */
import { useSignal } from '@preact/signals'
import type { Group } from '../../../resources/vclgroup.js'
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import { judgeRefusal, type CompileCheck } from './judge-plan.js'
import type { NextPins } from './use-next-pins.js'

/** Larger fleets check one cache of each release: the same text on the same release has the same result. */
const maxCachesOnEach = 50
/** Several files are often saved in quick succession. */
const settleMs = 400

interface CompileChecking {
  readonly check: CompileCheck
  /** Checks again, on every matching cache. */
  readonly checkEach: () => void
}

interface Reach {
  /** The number of caches that would get the group. */
  readonly caches: number
  /** Too few caches match: the same check shows whether a deploy would be refused or wait. */
  readonly isShort: boolean
}

/** `next`: the files that a deploy would pin; null while unknown. */
export function useCompileCheck(
  group: Group,
  next: NextPins,
  { caches, isShort }: Reach,
): CompileChecking {
  /** The number of checks that the user requested. */
  const asked = useSignal(0)
  const { id, mainVCL, includes, tests, domains, deployments, releases } = group
  const isOnEach = caches <= maxCachesOnEach || asked.value > 0
  const isAsked =
    next.isKnown && mainVCL !== null && deployments.length > 0 && (caches > 0 || isShort)
  const files = [next.pins ?? [mainVCL, includes], tests, next.testVersions, group.requireTests]
  const what = [files, domains, deployments, releases, isShort]
  const key = isAsked ? JSON.stringify([id, what, isOnEach, asked.value]) : null
  const ask = async (signal: AbortSignal): Promise<Answer> => {
    const agents = isOnEach ? 'all' : 'one'
    const path = `/vclgroups/${id}/validate?agents=${agents}`
    const outcome = await call<Validated>('PUT', path, { signal })
    const check: CompileCheck = outcome.ok
      ? {
          state: 'compiles',
          on: outcome.value.compiledOn,
          isOnEach,
          warnings: outcome.value.warnings ?? [],
        }
      : judgeRefusal(outcome.error, tests)
    return { key, check }
  }
  const answer = useAnswer<Answer>(key, nothing, ask, { delayMs: settleMs })
  const isStale = key !== null && answer.key !== key
  return {
    check: isStale ? { state: 'checking' } : answer.check,
    checkEach: () => {
      asked.value++
    },
  }
}

interface Validated {
  readonly compiledOn: number
  readonly warnings?: readonly string[]
}

interface Answer {
  /** Identifies what was checked. */
  readonly key: string | null
  readonly check: CompileCheck
}

const nothing: Answer = { key: null, check: { state: 'unknown' } }
