/** Asks real caches whether a group would compile as it would be deployed: when its workspace opens, and when that changes. */
import { useSignal } from '@preact/signals'
import type { Group } from '../../../resources/vclgroup.js'
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import { judgeRefusal, type CompileCheck } from './judge-plan.js'
import type { NextPins } from './use-next-pins.js'

/** A larger fleet is asked for one cache of each release: the same text on the same release has the same answer. */
const eachMost = 50
/** Several files are often saved one after the other. */
const settleMs = 400

interface CompileChecking {
  readonly check: CompileCheck
  /** Once more, on every cache that fits. */
  readonly checkEach: () => void
}

interface Reach {
  /** How many would get it. */
  readonly caches: number
  /** There are too few: whether it would be refused or wait is asked in the same way. */
  readonly isShort: boolean
}

/** `next`: the files that it would pin; null while they are not known. */
export function useCompileCheck(
  group: Group,
  next: NextPins,
  { caches, isShort }: Reach,
): CompileChecking {
  /** Counts the times that somebody asked. */
  const asked = useSignal(0)
  const { id, mainVCL, includes, tests, domains, deployments, releases } = group
  const isOnEach = caches <= eachMost || asked.value > 0
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
          ...{ state: 'compiles', on: outcome.value.compiledOn, isOnEach },
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
  /** What it is about. */
  readonly key: string | null
  readonly check: CompileCheck
}

const nothing: Answer = { key: null, check: { state: 'unknown' } }
