/** Refuses deploys before their turn: sources that cannot be flattened or whose tests fail. The history records the refusal. */
import type { Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import type { Gathered, GatheredSources } from '../groups/deploy-sources.js'
import type { StateService } from '../service.js'
import { refuse, type BeginRequest } from './begin.js'
import { runGroupTests } from './run-tests.js'

type Judged = Pick<BeginRequest, 'actor' | 'action'> & { readonly group: GroupRecord }

export interface TestsAsked {
  /** True: do not run them. */
  readonly skip: boolean
  /** Called with the reason if no agent could run them. */
  readonly warn: (text: string) => void
}

/** Throws 'uncompilable'. */
export async function requireFlat(
  service: StateService,
  judged: Judged,
  gathered: Gathered,
): Promise<GatheredSources> {
  if (!('error' in gathered)) return gathered
  throw await keepRefusal(service, judged, gathered, gathered.error)
}

/** Throws FleetError as `runGroupTests` does. */
export async function requireTested(
  service: StateService,
  context: Context,
  judged: Judged & { readonly tests?: TestsAsked | undefined },
  gathered: GatheredSources,
): Promise<void> {
  const { group, tests } = judged
  if (tests?.skip === true) return
  const { source } = gathered
  const domains = gathered.domains.map(({ fqdn }) => fqdn)
  const warning = await runGroupTests(service, context, group, { source, domains }).catch(
    async (error: unknown) => {
      if (!(error instanceof FleetError) || error.kind !== 'uncompilable') throw error
      throw await keepRefusal(service, judged, gathered, error.message)
    },
  )
  if (warning === null) return
  context.log.warn({ group: group.id }, warning)
  tests?.warn(warning)
}

function keepRefusal(
  service: StateService,
  { actor, action, group }: Judged,
  gathered: Gathered,
  message: string,
): Promise<FleetError> {
  const refusal = { because: 'uncompilable', message } as const
  const refused = { actor, action, group, gathered, now: service.now() }
  return service.store.transaction((queries) => refuse(queries, refused, refusal))
}
