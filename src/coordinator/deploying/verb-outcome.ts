/** What a verb tells beside the group: the rollout that it is, and why its tests were not run. */
import { FleetError } from '../../errors.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import type { Call } from '../http/route.js'
import { administrates } from '../identity/freeze.js'
import type { TestsAsked } from './judge-sources.js'
import type { VerbRequest } from './verbs.js'

export interface Outcome {
  /** 202. */
  readonly goesOn?: boolean
  readonly rollout?: { readonly id: number }
  readonly warnings?: readonly string[]
}

/** The answer bears the rollout that the deploy is. */
export async function runAsRollout(
  run: (onRollout: (id: number) => void) => Promise<boolean>,
): Promise<Outcome> {
  let id: number | undefined
  const isDone = await run((begun) => {
    id = begun
  })
  return { goesOn: !isDone, ...(id !== undefined && { rollout: { id } }) }
}

/** And why its tests were not run. */
export async function runRelease(
  call: Parameters<typeof askTests>[0],
  run: (asked: Pick<VerbRequest, 'onRollout'> & { tests: TestsAsked }) => Promise<boolean>,
): Promise<Outcome> {
  const tests = askTests(call)
  const outcome = await runAsRollout((onRollout) => run({ onRollout, tests }))
  return { ...outcome, ...tests.toFields() }
}

interface TestsQuery {
  readonly tests?: 'skip'
}

interface ReportedTests extends TestsAsked {
  /** What the answer has beside the group. */
  toFields(): { readonly warnings?: readonly string[] }
}

/** Throws 'forbidden' for whoever may not skip them. That they were skipped is in the api log. */
export function askTests({
  actor,
  object,
  query,
  note,
}: Pick<
  Call<unknown, TestsQuery, GroupRecord>,
  'actor' | 'object' | 'query' | 'note'
>): ReportedTests {
  const skip = query.tests === 'skip'
  if (skip && !administrates(actor, object.organizationId))
    throw new FleetError(
      'forbidden',
      'deploy',
      'only an administrator may skip the tests of a group',
    )
  if (skip && object.tests.length > 0)
    note({ warning: `group ${JSON.stringify(object.name)} without its tests` })
  const warnings: string[] = []
  return {
    skip,
    warn: (text) => warnings.push(text),
    toFields: () => (warnings.length === 0 ? {} : { warnings }),
  }
}
