/**
 * Checks whether files that are not (yet) in a group compile: stored files and texts that are kept nowhere. They are flattened,
 * refused and compiled as in a deploy, on agents whose caches compile the text; nothing is placed, kept or changed.
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
import { referencesNotFound, requireAll } from '../api/find-references.js'
import { runInSteps } from '../../in-steps.js'
import { scopeOf, type StateService } from '../service.js'
import { allowedModulesOf } from '../groups/deploy-sources.js'
import { compileOnAgents, type CompilingAgent } from './compile-on-agents.js'

/** A stored file at a version (default: the head), or a text with the name that errors and include statements use. */
export type LooseFile =
  | { readonly id: number; readonly version?: number | null | undefined }
  | { readonly name: string; readonly source: string }

interface CompileRequest {
  readonly mainVCL: LooseFile
  readonly includes: readonly LooseFile[]
  /** False: compile as VCL of a group with domains, which gets a prologue and must not switch to a label. */
  readonly root: boolean
  /** Undefined: one Running agent. */
  readonly agents: readonly { readonly id: number }[] | undefined
  /** Also run vcl_init. */
  readonly init: boolean
}

/** Returns the agents that compiled it. Throws FleetError: invalid, uncompilable, unavailable, timed-out. */
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

/** Returns the texts in the order of `files`. Throws 'invalid' for a file that the caller cannot find, and for a bad name. */
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
    throw referencesNotFound('version', [missing?.version ?? 0], 'file')
  }
  const rest = found.values()
  return files.map((file) => {
    if (!('id' in file)) return { name: parseName(file.name, 'file'), text: file.source }
    const { value } = rest.next()
    if (!value) throw new Error('each stored file was found')
    return toVclText(value)
  })
}

/** Applies the VCL policy for `owner`. Throws 'uncompilable' with file and line, as a deploy does. */
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
    // There is no group: the values are used for this one compile.
    prologue: root ? undefined : { groupId: 0, cacheKey: randomBytes(16).toString('hex') },
  })
  const bundle = await runInSteps(steps)
  if (!bundle.ok) throw new FleetError('uncompilable', 'file', bundle.errors.join('\n'))
  const { sha, text, sourceMap } = bundle
  return { sha, text, sourceMap }
}

/** Defaults to the Running agent with the fewest groups. Agents that the caller names report themselves why they cannot compile. */
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
