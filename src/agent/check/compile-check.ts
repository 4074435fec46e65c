/** Would this text load, where that cannot be found out beside the cache: it is loaded beside what serves, and discarded again. */
import { vclDiscard, vclInline } from '../../../protocol/commands/vcl.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import type { CompileAnswer } from '../../messages/answers.js'
import { describeDeath, isOfDeadChild } from '../engine/dead-child.js'
import type { StepTools } from '../apply/vcl-steps.js'

/**
 * Must run alone: a check of the cache meanwhile would find one VCL too many. Rejects when the text is not to be had or the
 * connection to the cache breaks.
 */
export async function compileSource(tools: StepTools, sha: string): Promise<CompileAnswer> {
  const { context, engine, state, sources } = tools
  const source = await sources.read(sha)
  // Not a group's name, so that nobody mistakes it for a VCL that serves.
  const name = `cf-check-${sha.slice(0, 8)}`
  if (state.record.ours.includes(name)) await discardIfThere(tools, name)
  // As with any load: what a kill leaves behind must be known as ours, to be discarded.
  await state.change({ ours: [...state.record.ours, name] })
  const startedAtMs = Date.now()
  try {
    await engine.run(context, vclInline(name, source))
  } catch (error) {
    const isAnswer = error instanceof ManagementPortError && error.kind === 'rejected'
    if (!isAnswer) throw error
    await disown(tools, name)
    if (isOfDeadChild(error)) return { error: await describeDeath(tools, startedAtMs) }
    return { error: error.text?.trim() ? error.text : error.message }
  }
  await discardIfThere(tools, name)
  return { error: null }
}

async function discardIfThere(tools: StepTools, name: string): Promise<void> {
  try {
    await tools.engine.run(tools.context, vclDiscard([name]))
  } catch (error) {
    if (!(error instanceof ManagementPortError) || error.status !== 106) throw error // 106: gone already
  }
  await disown(tools, name)
}

async function disown({ state }: StepTools, name: string): Promise<void> {
  await state.change({ ours: state.record.ours.filter((one) => one !== name) })
}
