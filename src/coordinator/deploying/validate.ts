/**
 * Checks whether a group would compile as it would be deployed, on each cache release among the suitable agents, or whether
 * its deployed VCL would compile on another release (docs/behaviour.md, Validate).
 */
import type { Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import { agentStates } from '../../resources/agent-state.js'
import {
  chooseOfEachRelease,
  isOfRelease,
  isOfReleases,
  unknownRelease,
} from '../../resources/cache-release.js'
import { readFleet, type FleetAgent } from '../fleet/fleet.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { findFitting } from '../fleet/placement-target.js'
import { gatherSources, type Gathered } from '../groups/deploy-sources.js'
import { recallSources } from '../groups/recall-sources.js'
import { decidePlacement } from '../placement/placing.js'
import type { StateService } from '../service.js'
import { scopeOfOwner } from '../store/scope.js'
import type { askTests } from './verb-outcome.js'
import { findShortage, readPlacingInput } from './begin.js'
import { compileOnAgents } from './compile-on-agents.js'
import { runGroupTests } from './run-tests.js'

interface ValidateRequest {
  /** `one` (default): one suitable agent of each release. `all`: every Running agent that suits one of the deployments. */
  readonly agents?: 'one' | 'all'
  /** Checks the deployed VCL on Running agents of this release, wherever it is placed: on one of each release that matches. */
  readonly release?: string
  /** Also run vcl_init. */
  readonly init?: boolean
  readonly tests: ReturnType<typeof askTests>
}

interface Validated {
  /** Number of caches. */
  readonly compiledOn: number
  readonly warnings?: readonly string[]
}

/** Also runs the tests if it compiles. Throws FleetError as a deploy would: uncompilable, conflict, unavailable; timed-out. */
export async function validateVclGroup(
  service: StateService,
  context: Context,
  group: GroupRecord,
  { agents: wanted = 'one', init = false, release, tests }: ValidateRequest,
): Promise<Validated> {
  const gathered =
    release === undefined
      ? await gatherSources(service, group)
      : await gatherDeployed(service, group)
  if ('error' in gathered) throw new FleetError('uncompilable', 'deploy', gathered.error)
  const agents =
    release === undefined
      ? await chooseFitting(service, group, wanted)
      : await chooseOfRelease(service, group, release)
  const { source } = gathered
  const owner = group.organizationId
  await compileOnAgents(service, context, agents, { source, errorKey: 'deploy', init, owner })
  const compiledOn = agents.length
  if (tests.skip) return { compiledOn }
  const domains = gathered.domains.map(({ fqdn }) => fqdn)
  const warning = await runGroupTests(service, context, group, { source, domains, release })
  if (warning !== null) tests.warn(warning)
  return { compiledOn, ...tests.toFields() }
}

/** For a group that is not deployed, gathers what a deploy would put on caches. */
async function gatherDeployed(service: StateService, group: GroupRecord): Promise<Gathered> {
  const { desiredRelease } = group
  return desiredRelease === null
    ? gatherSources(service, group)
    : recallSources(service, service.store.queries, group, desiredRelease)
}

/** Throws 'unavailable'. */
async function chooseOfRelease(
  service: StateService,
  { organizationId }: GroupRecord,
  release: string,
): Promise<readonly FleetAgent[]> {
  const fleet = await readFleet(service.store.queries, scopeOfOwner(organizationId))
  const running = fleet.filter(({ state }) => state === agentStates.Running)
  const chosen = chooseOfEachRelease(running.filter((one) => isOfRelease(one.release, release)))
  if (chosen.length > 0) return chosen
  throw new FleetError('unavailable', 'deploy', `no Running agent is of release ${release}`)
}

/** Throws 'conflict' or 'unavailable' as a deploy would. */
async function chooseFitting(
  service: StateService,
  group: GroupRecord,
  wanted: 'one' | 'all',
): Promise<readonly FleetAgent[]> {
  const { queries } = service.store
  const ids = group.deployments.map(({ id }) => id)
  const input = await readPlacingInput(queries, group, ids)
  const decision = await decidePlacement(queries, { ...input, group })
  const shortage = await findShortage(queries, group, { ...input, decision })
  if (shortage) throw new FleetError(shortage.kind, 'deploy', shortage.message)
  const fitting = input.deployments
    .flatMap(({ target }) => findFitting(input.agents, target))
    .filter(({ release = unknownRelease }) => isOfReleases(release, group.releases))
  const asked = new Set(fitting.map(({ id }) => id))
  const first = new Set([...decision.keep, ...decision.add].map(({ agentId }) => agentId))
  const running = input.fleet
    .filter(({ id, state }) => asked.has(id) && state === agentStates.Running)
    // Agents that a deploy would use come first.
    .toSorted((a, b) => Number(first.has(b.id)) - Number(first.has(a.id)))
  if (running.length === 0)
    throw new FleetError('unavailable', 'deploy', 'no agent is Running to compile on')
  return wanted === 'all' ? running : chooseOfEachRelease(running)
}
