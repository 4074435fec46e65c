/**
 * Which VCLs on the cache are managed by this agent. The saved state lists what it loaded; a new process of the cache holds nothing of that
 * but what its start file loaded, so there each name is believed only when its text is the one we know.
 */
import { ManagementPortError } from '../../../protocol/errors.js'
import { idleVclName } from '../../vcl/desired-engine.js'
import { idleVclSha } from '../../vcl/plan.js'
import type { AgentRecord } from '../agent-record.js'
import { readInventory, readProcesses, type EngineProcesses } from './inventory.js'
import { digestRunning, showSource } from './shown-source.js'
import type { StepTools } from './vcl-steps.js'

/**
 * Answers true when the process is another one than the saved state knows, and keeps what was found. Changes what is ours:
 * nothing else that does may run meanwhile.
 */
export async function recognizeProcess(tools: StepTools): Promise<boolean> {
  const { state, context, engine } = tools
  const processes = await readProcesses(engine, context)
  const { record } = state
  if (isKnownProcess(tools, processes)) return false
  const inventory = await readInventory(engine, context)
  // Without its child a cache shows no text; one without a pid may be the one we know.
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

/** By its pid; without one, any cache behind a new connection may be another one. */
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
    // What was adopted is known by what the cache shows of it: its source need not be here, nor a coordinator to give it.
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
