/**
 * The wait between load and switch: a VCL counts as loaded when its probed backends are healthy, or are also sick under the same
 * name in the VCL that serves now, or at the latest after `--warmup` (docs/behaviour.md, Deploy).
 */
import type { Backend } from '../../../protocol/commands/backend.js'
import { vclState, type VclRow } from '../../../protocol/commands/vcl.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import type { DesiredProgram } from '../../vcl/desired-engine.js'
import type { LoadedVcl } from '../../vcl/engine-inventory.js'
import { groupOfVcl } from '../../vcl/engine-settings.js'
import { labelName } from '../../vcl/routing.js'
import { mayAskPattern } from '../engine/deadly-commands.js'
import { readInventory } from './inventory.js'
import type { StepTools } from './vcl-steps.js'
import { pauseFor } from '../../runtime/pause.js'

interface WarmUp {
  /** Newly loaded, or warmed again. */
  readonly programs: readonly DesiredProgram[]
  readonly longestMs: number
  readonly isSuperseded: () => boolean
}

const pollPauseMs = 100
/**
 * After a VCL is warmed, the cache (7.1.1) shows the health from before it cooled down until the first probe ends;
 * that probe starts immediately.
 */
const firstProbeMs = 1_000

/** Rejects with errors of the connection; for a cache that cannot list its backends, the full time is waited. */
export async function waitForProbes(tools: StepTools, warmUp: WarmUp): Promise<void> {
  const probed = await findProbed(tools, warmUp.programs)
  if (probed.length === 0) return
  const { context, engine } = tools
  const endAt = performance.now() + warmUp.longestMs
  const canAsk = await mayAskPattern(engine, context)
  while (performance.now() < endAt && !warmUp.isSuperseded()) {
    if (canAsk && (await areWarm(tools, probed))) return
    await pauseFor(pollPauseMs)
  }
  if (canAsk) context.log.warn({ vcls: probed }, 'probes are not healthy yet; going on without')
}

/**
 * A VCL that cooled down before it was used again has stopped its probes and starts them from scratch: it is warmed and
 * waited for like a new one. Returns the VCLs whose state must return to `auto` once they serve.
 */
export async function warmAgain(tools: StepTools, warmUp: WarmUp): Promise<readonly string[]> {
  const probed = await findProbed(tools, warmUp.programs)
  if (probed.length === 0) return []
  const { context, engine } = tools
  const rows = await engine.run(context, engine.reading.vclList())
  const cold = rows
    .filter((row) => row.status !== 'discarded' && row.state === 'auto' && isCold(row))
    .map((row) => row.name)
    .filter((name) => probed.includes(name))
  if (cold.length === 0) return []
  for (const name of cold) await engine.run(context, vclState(name, 'warm'))
  const programs = warmUp.programs.filter(({ name }) => cold.includes(name))
  await pauseFor(Math.min(firstProbeMs, warmUp.longestMs))
  await waitForProbes(tools, { ...warmUp, programs })
  return cold
}

function isCold({ temperature }: VclRow): boolean {
  return temperature === 'cold' || temperature === 'init'
}

/** A text without the word `probe` has none, and needs no wait on any release. */
async function findProbed(
  tools: StepTools,
  programs: readonly DesiredProgram[],
): Promise<readonly string[]> {
  const probed: string[] = []
  for (const program of programs)
    if (/\bprobe\b/.test(await tools.sources.read(program.sha))) probed.push(program.name)
  return probed
}

async function areWarm(tools: StepTools, programs: readonly string[]): Promise<boolean> {
  const { vcls } = await readInventory(tools.engine, tools.context)
  for (const program of programs) {
    const sick = await listSick(tools, program)
    if (sick === null) return false
    if (sick.length === 0) continue
    const serving = findServing(vcls, program)
    const sickNow = serving === undefined ? [] : await listSick(tools, serving)
    if (sickNow === null || sick.some((backend) => !sickNow.includes(backend))) return false
  }
  return true
}

/** What the VCL will replace: for a group with domains the target of its label, else the active VCL. */
function findServing(vcls: readonly LoadedVcl[], program: string): string | undefined {
  const group = groupOfVcl(program)
  const label = group === null ? undefined : vcls.find(({ name }) => name === labelName(group))
  return label?.labelOf ?? vcls.find((vcl) => vcl.active)?.name
}

/** Backend names without the VCL's; null when this cache cannot list them. */
async function listSick(tools: StepTools, vcl: string): Promise<readonly string[] | null> {
  try {
    const rows = await tools.engine.run(
      tools.context,
      tools.engine.reading.backendList({ pattern: `${vcl}.*` }),
    )
    return rows.filter(isSickByProbe).map((row) => row.name.slice(vcl.length + 1))
  } catch (error) {
    if (error instanceof ManagementPortError && error.kind === 'rejected') return null
    throw error
  }
}

/** Directors derive their health from backends, and a release without JSON does not mark them: neither shows `probe`. */
function isSickByProbe(backend: Backend): boolean {
  const isProbed = backend.adminHealth === 'probe' || backend.adminHealth === 'auto'
  const isBackend = backend.type === null || backend.type === 'backend'
  return isProbed && isBackend && !backend.isHealthy
}
