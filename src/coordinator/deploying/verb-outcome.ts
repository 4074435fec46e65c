/** What the response of a verb contains besides the group: the rollout, and why tests were not run. */
import { FleetError } from '../../errors.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import type { Call } from '../http/route.js'
import { isAdministratorOf } from '../identity/freeze.js'
import type { TestsAsked } from './judge-sources.js'
import type { VerbRequest } from './verbs.js'

export interface Outcome {
  /** True: respond with 202. */
  readonly goesOn?: boolean
  readonly rollout?: { readonly id: number }
  readonly warnings?: readonly string[]
}

/** Adds the rollout that the deploy has started, if any, to the response. */
export async function runAsRollout(
  run: (onRollout: (id: number) => void) => Promise<boolean>,
): Promise<Outcome> {
  let id: number | undefined
  const isDone = await run((begun) => {
    id = begun
  })
  return { goesOn: !isDone, ...(id !== undefined && { rollout: { id } }) }
}

/** Like `runAsRollout`; also adds why the tests were not run. */
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
  /** Additional fields of the response. */
  toFields(): { readonly warnings?: readonly string[] }
}

/** Throws 'forbidden' if the caller may not skip the tests. Skipped tests are noted in the API log. */
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
  if (skip && !isAdministratorOf(actor, object.organizationId))
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
