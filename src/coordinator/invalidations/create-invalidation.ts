/** Creates an entry of the invalidation log; it is on disk when this resolves (docs/behaviour.md, Invalidations). */
import type { Context } from '../../context.js'
import { invalidationStates, maxListedResults } from '../../resources/invalidation.js'
import { parseBanExpression } from '../../vcl/ban-expression.js'
import { listOwnHeaders, warnOfBan, warnOfHeaders } from './ban-warnings.js'
import {
  contentLimitBytes,
  defaultTtlSeconds,
  memberLimit,
  ttlLimitSeconds,
  type InvalidationContent,
  type InvalidationOutcome,
} from './invalidation.js'
import { summarizeShared, type MemberProgress } from './invalidation-results.js'
import type { Actor } from '../../resources/permission.js'
import { parsePurgeHeaders, parsePurgeMethod, parsePurgeUrl } from './purge-url.js'
import { FleetError } from '../../errors.js'
import {
  appendInvalidation,
  findInvalidation,
  type InvalidationRecord,
} from './invalidation-queries.js'
import {
  isAway,
  keepSet,
  readServedTexts,
  type SetMember,
  type TargetAgent,
} from './target-queries.js'
import { ownerOf, scopeOfOwner, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { chooseOwner, type OwnerReference } from '../api/find-references.js'
import { rememberOf } from '../../runtime/bounded-cache.js'
import type { StateService } from '../service.js'
import { notifyInvalidationsLogged } from './invalidation-hints.js'
import { requireInvalidationRoom } from './invalidation-room.js'
import {
  findMembers,
  findTarget,
  keepCovered,
  readAbleAgents,
  type FoundTarget,
  type Target,
} from './invalidation-target.js'
import { viewEntry, type ListedInvalidation } from './invalidation-view.js'

/** As written in a request body. */
export interface InvalidationRequest {
  readonly type: 'ban' | 'purge'
  readonly expression?: string | undefined
  readonly expressions?: readonly string[] | undefined
  readonly urls?: readonly string[] | undefined
  readonly target: Target
  readonly method?: string | null | undefined
  readonly headers?: Readonly<Record<string, string>> | null | undefined
  /** Seconds. */
  readonly ttl?: number | null | undefined
  /** Owner of the entry, which determines the objects it may name. */
  readonly organization?: OwnerReference
}

/** A cache needs a few seconds for this many. */
const maxBansPerAgent = 10_000
/** Searching for a header takes a millisecond. */
const sourcesSearched = { limit: 10, maxLength: 100_000 }
/** Warnings per entry. */
const warningsLimit = 20

type NewInvalidation = Omit<ListedInvalidation, 'id'>

/** Throws FleetError 'invalid', and 'limited' if too many entries are open. */
export async function createInvalidation(
  service: StateService,
  context: Context,
  actor: Actor,
  request: InvalidationRequest,
): Promise<NewInvalidation> {
  const content = parseContent(request)
  const ttlSeconds = parseTtl(request.ttl)
  const view = await service.store.decide(async (queries) => {
    const scope = await chooseScope(queries, actor, request.organization)
    await requireInvalidationRoom(queries, ownerOf(scope))
    const { target, agents, members, covered } = await findCovered(queries, scope, request, content)
    const setId = await keepSet(queries, members)
    const id = await appendInvalidation(queries, {
      content,
      target: target.record,
      warnings: await listWarnings(queries, scope, target, content),
      account: actor.accountName,
      traceId: context.traceId,
      ttlSeconds,
      createdAt: service.now(),
      organizationId: ownerOf(scope),
      setId,
      attemptSetId: covered.length === members.length ? setId : await keepSet(queries, covered),
      outcome: firstOutcome(covered),
    })
    const entry = await findInvalidation(queries, scope, id)
    if (!entry) throw new Error(`invalidation ${id} was written and is not there`)
    return viewUntold(entry, agents, covered)
  })
  const { entry, summary } = view
  notifyInvalidationsLogged(service)
  context.log.info(
    { invalidationId: entry.id, type: content.type, agents: summary.total },
    'invalidation logged',
  )
  return view
}

/** Preview of an entry. */
interface InvalidationPreview {
  /** Agents of the target that could carry it out. */
  readonly total: number
  /** Agents with something to invalidate. */
  readonly reached: number
  /** Of these, agents that could not do it now. */
  readonly away: number
  readonly warnings: readonly string[]
}

/** Previews the entry as it would be created now; throws the same errors and stores nothing. */
export async function previewInvalidation(
  { store: { queries } }: StateService,
  actor: Actor,
  request: InvalidationRequest,
): Promise<InvalidationPreview> {
  const content = parseContent(request)
  parseTtl(request.ttl)
  const scope = await chooseScope(queries, actor, request.organization)
  const { target, agents, covered } = await findCovered(queries, scope, request, content)
  const ids = new Set(covered.map(({ agentId }) => agentId))
  return {
    total: agents.length,
    reached: covered.length,
    away: agents.filter((agent) => ids.has(agent.id) && toUntold(agent).isAway).length,
    warnings: await listWarnings(queries, scope, target, content),
  }
}

/** The system administrator may create an entry for an organization, with the coverage of the organization's own entries. */
async function chooseScope(
  queries: Queries,
  actor: Actor,
  organization: OwnerReference,
): Promise<Scope> {
  return scopeOfOwner(await chooseOwner(queries, actor, organization, 'invalidation'))
}

async function findCovered(
  queries: Queries,
  scope: Scope,
  request: InvalidationRequest,
  content: InvalidationContent,
) {
  const target = await findTarget(queries, scope, request.target)
  const agents = await readAbleAgents(queries, scope, target)
  const members = await findMembers(queries, scope, { agents, target, content })
  requireFewBans(content, members)
  return { target, agents, members, covered: keepCovered(members) }
}

/** An expression becomes one ban for each group that it is limited to. */
function requireFewBans(content: InvalidationContent, members: readonly SetMember[]): void {
  if (content.type !== 'ban') return
  const groups = Math.max(
    0,
    ...members.map(({ coverage }) => ('groups' in coverage ? (coverage.groups?.length ?? 1) : 0)),
  )
  const bans = groups * content.expressions.length
  if (bans > maxBansPerAgent)
    throw invalid(
      `it would be ${bans} bans on one agent, ${groups} for each expression; at most ${maxBansPerAgent} are allowed`,
    )
}

/** As in lists, without results of agents, of which there are none yet. */
function viewUntold(
  entry: InvalidationRecord,
  agents: readonly TargetAgent[],
  covered: readonly SetMember[],
): NewInvalidation {
  if (agents.length > maxListedResults) return { entry, summary: untoldSummaryOf(agents)(covered) }
  const coveredIds = new Set(covered.map(({ agentId }) => agentId))
  return viewEntry(entry, agents.map(toUntold), coveredIds)
}

/** Most entries are for the same many agents. */
const untoldSummaryOf = rememberOf((agents: readonly TargetAgent[]) =>
  rememberOf((covered: readonly SetMember[]) => {
    const coveredIds = new Set(covered.map(({ agentId }) => agentId))
    const memberIds = new Set(agents.map(({ id }) => id))
    const slowestFirst = agents.filter(({ id }) => coveredIds.has(id)).map(toUntold)
    const untold = { outcome: firstOutcome(covered), exceptions: [], position: 1 }
    return summarizeShared(untold, { memberIds, slowestFirst })
  }),
)

/** Null: it is open. */
function firstOutcome(covered: readonly SetMember[]): InvalidationOutcome | null {
  return covered.length === 0 ? invalidationStates.Completed : null
}

/** Notifies agents of the new entry. */
function toUntold({ id, name, state, capabilities }: TargetAgent): MemberProgress {
  return {
    agentId: id,
    name,
    isAway: isAway(state, capabilities),
    position: null,
    movedAt: null,
    trouble: null,
  }
}

function parseContent(request: InvalidationRequest): InvalidationContent {
  const content = request.type === 'ban' ? parseBan(request) : parsePurge(request)
  const bytes = Buffer.byteLength(JSON.stringify(content))
  if (bytes > contentLimitBytes)
    throw invalid(`it has ${bytes} bytes, at most ${contentLimitBytes} are allowed; make several`)
  return content
}

function parseBan({
  expression,
  expressions,
  urls,
  ...rest
}: InvalidationRequest): InvalidationContent {
  if (urls !== undefined || rest.method != null || rest.headers != null)
    throw invalid('urls, method and headers belong to a purge; a ban has expression or expressions')
  if ((expression === undefined) === (expressions === undefined))
    throw invalid('a ban has either expression or expressions')
  const texts = expressions ?? [expression ?? '']
  requireMembers('expressions', texts)
  return { type: 'ban', expressions: texts.map((text, index) => parseMember(text, index, texts)) }
}

/** For a batch the message names the entry. */
function parseMember(text: string, index: number, texts: readonly string[]) {
  try {
    return parseBanExpression(text)
  } catch (error) {
    if (!(error instanceof FleetError) || texts.length === 1) throw error
    throw invalid(`expressions[${index}]: ${error.message}`)
  }
}

function parsePurge(request: InvalidationRequest): InvalidationContent {
  const { expression, expressions, urls = [], method, headers } = request
  if (expression !== undefined || expressions !== undefined)
    throw invalid('expression and expressions belong to a ban; a purge has urls')
  requireMembers('urls', urls)
  for (const url of urls) parsePurgeUrl(url)
  return {
    type: 'purge',
    urls,
    method: parsePurgeMethod(method ?? 'PURGE'),
    headers: parsePurgeHeaders(headers ?? {}),
  }
}

function requireMembers(key: string, members: readonly string[]): void {
  if (members.length === 0 || members.length > memberLimit)
    throw invalid(`${key} has ${members.length} members; it must have 1 to ${memberLimit}`)
}

function parseTtl(ttl: number | null | undefined): number {
  if (ttl == null) return defaultTtlSeconds
  if (Number.isSafeInteger(ttl) && ttl > 0 && ttl <= ttlLimitSeconds) return ttl
  throw invalid(`ttl is ${ttl}; it must be whole seconds from 1 to ${ttlLimitSeconds}`)
}

async function listWarnings(
  queries: Queries,
  scope: Scope,
  { by }: FoundTarget,
  content: InvalidationContent,
): Promise<readonly string[]> {
  if (content.type === 'purge') return []
  const headers = [...new Set(content.expressions.flatMap(listOwnHeaders))]
  const sources =
    headers.length === 0 ? [] : await readServedTexts(queries, scope, by, sourcesSearched)
  const warnings = [...content.expressions.flatMap(warnOfBan), ...warnOfHeaders(headers, sources)]
  return [...new Set(warnings)].slice(0, warningsLimit)
}

function invalid(message: string): FleetError {
  return new FleetError('invalid', 'invalidation', message)
}
