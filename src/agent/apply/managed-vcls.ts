/**
 * Which VCLs on the cache this agent manages. The saved state lists what it loaded; a new process of the cache holds only what its
 * start file loaded, so there a name counts as managed only if its text is the known one.
 */
import { ManagementPortError } from '../../../protocol/errors.js'
import { idleVclName } from '../../vcl/desired-engine.js'
import { idleVclSha } from '../../vcl/plan.js'
import type { AgentRecord } from '../agent-record.js'
import { readInventory, readProcesses, type EngineProcesses } from './inventory.js'
import { digestRunning, showSource } from './shown-source.js'
import type { StepTools } from './vcl-steps.js'

/**
 * Returns true when the process differs from the one in the saved state, and saves the managed names found. Nothing else that
 * changes the managed names may run meanwhile.
 */
export async function recognizeProcess(tools: StepTools): Promise<boolean> {
  const { state, context, engine } = tools
  const processes = await readProcesses(engine, context)
  const { record } = state
  if (isKnownProcess(tools, processes)) return false
  const inventory = await readInventory(engine, context)
  // A cache without its child shows no text; one without a pid may be the known process.
  if (processes.masterPid === null && !inventory.childRunning) return false
  const ours: string[] = []
  for (const vcl of inventory.vcls) {
    if (!record.ours.includes(vcl.name)) continue
    const isManaged = vcl.labelOf === null ? await isText(tools, vcl.name, record) : true
    if (isManaged) ours.push(vcl.name)
    else
      context.log.warn({ vcl: vcl.name }, 'a VCL has the name of a managed one, but another text')
  }
  engine.noteRecognized(processes.connection)
  const { masterPid } = processes
  if (masterPid !== record.masterPid || ours.length !== record.ours.length)
    await state.change({ masterPid, ours })
  return true
}

/** Compares the pid; without one, a new connection may lead to another cache. */
export function isKnownProcess(
  { state, engine }: Pick<StepTools, 'state' | 'engine'>,
  { masterPid }: EngineProcesses,
): boolean {
  return masterPid === null ? engine.isRecognized : masterPid === state.record.masterPid
}

async function isText(tools: StepTools, name: string, record: AgentRecord): Promise<boolean> {
  const sha =
    name === idleVclName
      ? idleVclSha
      : record.desired?.load.find((program) => program.name === name)?.sha
  if (sha === undefined) return false
  try {
    // An adopted VCL is recognized by the text the cache shows: its source need not be here, nor a coordinator that has it.
    if ((await digestRunning(tools, name)) === sha) return true
    const known = await tools.sources.read(sha).catch(() => null)
    if (known === null) return false
    // The cache adds a line feed where a here-document had none.
    const shown = await showSource(tools, name)
    return shown.toString('utf8').trimEnd() === known.trimEnd()
  } catch (error) {
    if (!(error instanceof ManagementPortError) || error.kind !== 'rejected') throw error
    return false
  }
}
