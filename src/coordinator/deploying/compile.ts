/**
 * Would files in no group (yet) compile: stored ones and texts that are kept nowhere. They are flattened, refused and compiled as
 * a deploy would do it, by agents that are asked whether their caches would take it; nothing is placed, kept or changed.
 */
import { randomBytes } from 'node:crypto'
import type { Context } from '../../context.js'
import { agentStates } from '../../resources/agent-state.js'
import { parseName } from '../../resources/names.js'
import type { Actor } from '../../resources/permission.js'
import { bundleInSteps, type VclText } from '../../vcl/bundle.js'
import { FleetError } from '../../errors.js'
import { readFileTexts, toVclText } from '../files/file-texts.js'
import { selectFiles } from '../files/file-queries.js'
import { readFleet } from '../fleet/fleet.js'
import type { SourceRecord } from '../fleet/sources.js'
import { notThere, requireAll } from '../api/find-references.js'
import { runInSteps } from '../../in-steps.js'
import { scopeOf, type StateService } from '../service.js'
import { allowedModulesOf } from '../groups/deploy-sources.js'
import { compileOnAgents, type CompilingAgent } from './compile-on-agents.js'

/** A file at a version, the head unless given; or a text under the name that errors and include statements call it. */
export type LooseFile =
  | { readonly id: number; readonly version?: number | null | undefined }
  | { readonly name: string; readonly source: string }

interface CompileRequest {
  readonly mainVCL: LooseFile
  readonly includes: readonly LooseFile[]
  /** False: as the VCL of a group with domains, which has a prologue and hands over to no label. */
  readonly root: boolean
  /** Undefined: one that is Running. */
  readonly agents: readonly { readonly id: number }[] | undefined
  /** Also run vcl_init. */
  readonly init: boolean
}

/** Answers the agents where it compiled. Throws FleetError: invalid, uncompilable, unavailable, timed-out. */
export async function compileFiles(
  service: StateService,
  context: Context,
  actor: Actor,
  request: CompileRequest,
): Promise<readonly CompilingAgent[]> {
  const [main, ...includes] = await readTexts(service, actor, [
    request.mainVCL,
    ...request.includes,
  ])
  if (!main) throw new Error('a main file is always asked for')
  const agents = await chooseAgents(service, actor, request.agents)
  const files = { main, includes, root: request.root }
  const source = await flattenTexts(service, actor.organizationId, files)
  const { init } = request
  const owner = actor.organizationId
  await compileOnAgents(service, context, agents, { source, errorKey: 'file', init, owner })
  return agents
}

/** In the order of `files`. Throws 'invalid' for what is not there, is not the caller's, or has another's name. */
async function readTexts(
  service: StateService,
  actor: Actor,
  files: readonly LooseFile[],
): Promise<VclText[]> {
  const { queries } = service.store
  const stored = files.flatMap((file) => ('id' in file ? [file] : []))
  await requireAll(stored, 'mainVCL and includes', 'file', async (ids) => {
    const mine = selectFiles(queries, scopeOf(actor)).where('files.id', 'in', [...ids])
    return (await mine.execute()).map(({ id }) => id)
  })
  const chosen = stored.map(({ id, version = null }) => ({ id, version }))
  const found = await readFileTexts(queries, chosen)
  if (found.length < chosen.length) {
    const missing = chosen.find(({ id }, index) => found[index]?.id !== id)
    throw notThere('version', [missing?.version ?? 0], 'file')
  }
  const rest = found.values()
  return files.map((file) => {
    if (!('id' in file)) return { name: parseName(file.name, 'file'), text: file.source }
    const { value } = rest.next()
    if (!value) throw new Error('each stored file was found')
    return toVclText(value)
  })
}

/** By the VCL policy for `owner`. Throws 'uncompilable' with file and line, as a deploy does. */
export async function flattenTexts(
  service: StateService,
  owner: number | null,
  files: { readonly main: VclText; readonly includes: readonly VclText[]; readonly root: boolean },
): Promise<SourceRecord> {
  const { main, includes, root } = files
  const byName = new Map(includes.map((file) => [file.name, file]))
  if (byName.size < includes.length)
    throw new FleetError('invalid', 'file', 'includes: two of them have the same name')
  const steps = bundleInSteps(main, byName, {
    allowedExternal: service.settings.allowedIncludes,
    modules: allowedModulesOf(service, owner),
    // Of no group: the value is used for this one compile.
    prologue: root ? undefined : { groupId: 0, cacheKey: randomBytes(16).toString('hex') },
  })
  const bundle = await runInSteps(steps)
  if (!bundle.ok) throw new FleetError('uncompilable', 'file', bundle.errors.join('\n'))
  const { sha, text, sourceMap } = bundle
  return { sha, text, sourceMap }
}

/** By default the Running agent with the fewest groups. Agents named by the caller report themselves why they cannot compile. */
async function chooseAgents(
  service: StateService,
  actor: Actor,
  wanted: CompileRequest['agents'],
): Promise<readonly CompilingAgent[]> {
  const fleet = await readFleet(service.store.queries, scopeOf(actor))
  const byId = new Map(fleet.map((agent) => [agent.id, agent]))
  if (wanted) {
    const ids = await requireAll(wanted, 'agents', 'file', (all) =>
      Promise.resolve(all.filter((id) => byId.has(id))),
    )
    return ids.flatMap((id) => byId.get(id) ?? [])
  }
  const [first] = fleet
    .filter(({ state }) => state === agentStates.Running)
    .toSorted((a, b) => a.groupIds.length - b.groupIds.length)
  if (!first) throw new FleetError('unavailable', 'file', 'no agent is Running to compile on')
  return [first]
}
