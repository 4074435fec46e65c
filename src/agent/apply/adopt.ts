/**
 * `--takeover adopt`: the agent reports the running VCL to the coordinator, which makes a deployed root group of it. The desired
 * state then names the VCL that is already loaded, and the agent manages it from then on (docs/behaviour.md, Takeover). Nothing
 * is compiled, and the cache is not changed.
 */
import type { DesiredEngine } from '../../vcl/desired-engine.js'
import { findLabelUse, rebuildInSteps } from '../../vcl/running-vcl.js'
import { runInSteps } from '../../in-steps.js'
import type { NotAdoptable, RunningVcl } from '../../messages/answers.js'
import type { AgentConfig } from '../agent-config.js'
import type { AgentRecord } from '../agent-record.js'
import { readInventory } from './inventory.js'
import { digestRunning, showParts } from './shown-source.js'
import type { StepTools } from './vcl-steps.js'

type AdoptTools = Pick<StepTools, 'context' | 'engine' | 'state'>

/** True while the running VCL is still to be adopted. A locked or read-only agent adopts nothing. */
export function isToAdopt(
  { takeover, readOnly }: Pick<AgentConfig, 'takeover' | 'readOnly'>,
  { takenOver, lockedBecause }: Pick<AgentRecord, 'takenOver' | 'lockedBecause'>,
): boolean {
  return takeover === 'adopt' && !takenOver && !readOnly && lockedBecause === null
}

/** Rejects with ManagementPortError. */
export async function showRunning(tools: AdoptTools): Promise<RunningVcl | NotAdoptable> {
  const { vcls } = await readInventory(tools.engine, tools.context)
  const active = vcls.find((vcl) => vcl.active)
  if (active === undefined) return refuse('the cache runs no VCL')
  const { name, labelOf } = active
  if (labelOf !== null) return refuse(`the cache runs ${name}, which is a label`)
  if (tools.state.record.ours.includes(name))
    return refuse(`the cache runs ${name}, which this agent loaded itself`)
  const parts = await showParts(tools, name)
  if (parts === null)
    return refuse(`the source of ${name} is not UTF-8 text: save its files as UTF-8 and load it`)
  const labelUse = await runInSteps(findLabelUse(parts))
  if (labelUse !== null)
    return refuse(
      `${name} hands requests to labelled VCL (return (vcl(…)) in ${labelUse}): make groups with domains of those`,
    )
  // The coordinator names the files.
  const rebuilt = await runInSteps(rebuildInSteps(parts, 'running'))
  return rebuilt.ok ? { program: name, parts } : refuse(rebuilt.reason)
}

function refuse(refusal: string): NotAdoptable {
  return { refusal }
}

/** Returns the desired VCLs that the cache already holds under the same name and with the same text: they are now managed. */
export async function findAdopted(
  tools: AdoptTools,
  desired: DesiredEngine,
): Promise<readonly string[]> {
  const { vcls } = await readInventory(tools.engine, tools.context)
  const adopted: string[] = []
  for (const { name, labelOf } of vcls) {
    const program = desired.load.find((one) => one.name === name)
    if (!program || labelOf !== null || tools.state.record.ours.includes(name)) continue
    if ((await digestRunning(tools, name)) === program.sha) adopted.push(name)
  }
  return adopted
}
