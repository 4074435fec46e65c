/** Summarizes a deploy in one line and finds the reasons why it cannot succeed. Pure functions. */
import type { Group } from '../../../resources/vclgroup.js'
import type { CallError } from '../../api/http.js'
import { formatCount } from '../../parts/quantity.js'
import { startSentence } from '../../parts/start-sentence.js'
import { countPlanned, type PlannedPlace } from './plan-places.js'

/** Whether the VCL compiles on real caches. */
export type CompileCheck =
  | { readonly state: 'unknown' }
  | { readonly state: 'checking' }
  /** `isOnEach`: checked on every matching cache, else on one of each release. */
  | {
      readonly state: 'compiles'
      readonly on: number
      readonly isOnEach: boolean
      /** What a deploy would not do. */
      readonly warnings: readonly string[]
    }
  /** `isTested`: the VCL compiles, but a test of it fails. */
  | { readonly state: 'fails'; readonly error: CallError; readonly isTested: boolean }
  /** The check failed for another reason. */
  | { readonly state: 'unchecked'; readonly error: CallError }

/** Judges whether the VCL or the placement caused the refusal of a check, so that a deploy would be refused too. */
export function judgeRefusal(error: CallError, tests: Group['tests']): CompileCheck {
  const isVcl = error.status === 422
  const isPlacement = error.status === 409
  if (!isVcl && !isPlacement) return { state: 'unchecked', error }
  const isTested = isVcl && tests.some(({ name }) => error.errorMsg.startsWith(`${name} line `))
  return { state: 'fails', error, isTested }
}

interface DeployPlan {
  readonly group: Pick<Group, 'mainVCL' | 'deployments'>
  /** `files` is null if the user may not read them. */
  readonly changed: { readonly files: number | null; readonly domains: number }
  readonly places: readonly PlannedPlace[]
  readonly shortage: string | null
  readonly check: CompileCheck
}

/** "2 files change, 30 caches now, 4 when they reconnect, compiles on 30 of 30". */
export function summarizePlan(plan: Omit<DeployPlan, 'group' | 'shortage'>): string {
  const { changed, places, check } = plan
  const now = countPlanned(places, 'no change', 'added')
  const later = countPlanned(places, 'waiting')
  const removed = countPlanned(places, 'removed')
  const parts = [
    changed.files === null ? '' : countChanges(changed.files, 'file', 'no file changes'),
    changed.domains === 0 ? '' : countChanges(changed.domains, 'domain', ''),
    `${countOf(now, 'cache')} now`,
    later === 0
      ? ''
      : `${formatCount(later)} when ${later === 1 ? 'it reconnects' : 'they reconnect'}`,
    removed === 0 ? '' : `removed from ${formatCount(removed)}`,
    describeCheck(check),
  ]
  return startSentence(parts.filter((part) => part !== '').join(', '))
}

function countChanges(count: number, noun: string, none: string): string {
  if (count === 0) return none
  return `${countOf(count, noun)} ${count === 1 ? 'changes' : 'change'}`
}

function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

function describeCheck(check: CompileCheck): string {
  if (check.state === 'checking') return 'checking whether it compiles…'
  if (check.state === 'fails' && check.error.status !== 422) return ''
  if (check.state === 'fails') return check.isTested ? 'its tests fail' : 'does not compile'
  if (check.state === 'unchecked') return 'not checked whether it compiles'
  if (check.state === 'unknown') return ''
  const count = formatCount(check.on)
  return check.isOnEach
    ? `compiles on ${count} of ${count}`
    : `compiles on ${countOf(check.on, 'cache')}, one of each release`
}

/** Returns what the deploy would wait for before it starts by itself (503); null if it would not wait. */
export function findWaiting({ shortage, check }: Pick<DeployPlan, 'shortage' | 'check'>) {
  const waits = check.state === 'unchecked' && check.error.status === 503
  return shortage !== null && waits ? startSentence(shortage) : null
}

/** Empty: a deploy may be attempted. */
export function findHindrances(plan: Omit<DeployPlan, 'changed'>): readonly string[] {
  const { group, shortage, check } = plan
  if (group.mainVCL === null) return ['The group has no main VCL. Edit it to choose one.']
  if (group.deployments.length === 0)
    return ['The group has no deployment. Edit it to choose the caches that it may use.']
  if (shortage !== null && findWaiting({ shortage, check }) === null)
    return [startSentence(shortage)]
  if (check.state !== 'fails') return []
  if (check.error.status !== 422) return [startSentence(check.error.errorMsg)]
  return [
    check.isTested
      ? 'Its tests fail. Fix what is listed below.'
      : 'The VCL does not compile. Fix the errors below.',
  ]
}
