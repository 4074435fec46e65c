/** Checks whether a text would load when it cannot be compiled beside the cache: loads it in the cache and discards it again. */
import { vclDiscard, vclInline } from '../../../protocol/commands/vcl.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import type { CompileAnswer } from '../../messages/answers.js'
import { describeDeath, isOfDeadChild } from '../engine/dead-child.js'
import type { StepTools } from '../apply/vcl-steps.js'

/**
 * Must run alone: a concurrent check of the cache would find an additional VCL. Rejects when the text is unavailable or the
 * connection to the cache breaks.
 */
export async function compileSource(tools: StepTools, sha: string): Promise<CompileAnswer> {
  const { context, engine, state, sources } = tools
  const source = await sources.read(sha)
  // Not a group's name, so that it is not mistaken for a VCL that serves.
  const name = `cf-check-${sha.slice(0, 8)}`
  if (state.record.ours.includes(name)) await discardIfThere(tools, name)
  // As with any load: after a kill the VCL must be known as managed, so that it is discarded.
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
