/**
 * Which VCLs on the cache are ours. The saved state lists what we loaded; a new process of the cache holds nothing of that
 * but what its start file loaded, so there each name is believed only when its text is the one we know.
 */
import { vclShow } from '../../protocol/commands/vcl.js'
import { ManagementPortError } from '../../protocol/errors.js'
import { idleVclName } from '../domain/desired-engine.js'
import { idleVclSha } from '../domain/vcl-plan.js'
import type { AgentRecord } from './agent-record.js'
import { readInventory, readProcesses } from './inventory.js'
import type { StepTools } from './vcl-steps.js'

/**
 * Answers true when the process is another one than the saved state knows, and keeps what was found. Changes what is ours:
 * nothing else that does may run meanwhile.
 */
export async function recognizeProcess(tools: StepTools): Promise<boolean> {
  const { state, context, engine } = tools
  const processes = await readProcesses(engine, context)
  const { record } = state
  if (processes === null || record.masterPid === processes.masterPid) return false
  const inventory = await readInventory(engine, context)
  const ours: string[] = []
  for (const vcl of inventory.vcls) {
    if (!record.ours.includes(vcl.name)) continue
    const isOurs = vcl.labelOf === null ? await isText(tools, vcl.name, record) : true
    if (isOurs) ours.push(vcl.name)
    else context.log.warn({ vcl: vcl.name }, 'a VCL bears a name of ours, but not its text')
  }
  await state.change({ masterPid: processes.masterPid, ours })
  return true
}

async function isText(tools: StepTools, name: string, record: AgentRecord): Promise<boolean> {
  const sha =
    name === idleVclName
      ? idleVclSha
      : record.desired?.load.find((program) => program.name === name)?.sha
  if (sha === undefined) return false
  const known = await tools.sources.read(sha).catch(() => null)
  if (known === null) return false
  try {
    // The cache adds a line feed where a here-document had none.
    const shown = await tools.engine.run(tools.context, vclShow(name))
    return shown.toString('utf8').trimEnd() === known.trimEnd()
  } catch (error) {
    if (!(error instanceof ManagementPortError) || error.kind !== 'rejected') throw error
    // Longer than `cli_limit`: what there is of it must be the beginning.
    if (error.status === 201) return known.startsWith(error.text ?? '-')
    return false
  }
}
