/** Runs one step of a plan on the cache. */
import { setTimeout as wait } from 'node:timers/promises'
import { ban } from '../../../protocol/commands/ban.js'
import { vclDiscard, vclInline, vclLabel, vclUse } from '../../../protocol/commands/vcl.js'
import { startChild } from '../../../protocol/commands/process.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import type { Context } from '../../context.js'
import type { VclStep } from '../../vcl/plan.js'
import type { Engine } from '../engine/engine.js'
import type { SavedState } from './saved-state.js'
import { splitLabels } from '../../vcl/held-labels.js'
import { readInventory } from './inventory.js'
import { showSource } from './shown-source.js'
import type { Sources } from './sources.js'

const releaseWaitMs = 2_000
const releasePauseMs = 50

export interface StepTools {
  readonly context: Context
  readonly engine: Engine
  readonly state: SavedState
  readonly sources: Sources
}

/** Rejects with the error of the cache, the coordinator (a missing source) or the disk. */
export async function runStep(
  tools: StepTools,
  step: Exclude<VclStep, { do: 'discard' }>,
): Promise<void> {
  const { context, engine } = tools
  switch (step.do) {
    case 'load':
      await engine.run(context, vclInline(step.name, await tools.sources.read(step.sha)))
      return
    case 'save':
      return saveUnmanagedVcl(tools, step.name)
    case 'label':
      return engine.run(context, vclLabel(step.label, step.program))
    case 'use':
      return engine.run(context, vclUse(step.name))
    case 'ban':
      // Matches every object; the ban lurker, which sees no requests, can test it too.
      return engine.run(context, ban([{ field: 'obj.status', operator: '!=', value: '0' }]))
    case 'start':
      return engine.run(context, startChild())
  }
}

/** A short description for logs and drift reports. */
export function describeStep(step: VclStep): string {
  switch (step.do) {
    case 'load':
      return `loaded ${step.name}`
    case 'save':
      return `saved ${step.name}`
    case 'label':
      return `labelled ${step.program} as ${step.label}`
    case 'use':
      return `used ${step.name}`
    case 'ban':
      return 'banned everything'
    case 'discard':
      return `discarded ${step.names.join(', ')}`
    case 'start':
      return 'started the child'
  }
}

async function saveUnmanagedVcl(tools: StepTools, name: string): Promise<void> {
  const source = await showSource(tools, name)
  const file = await tools.state.saveUnmanaged(name, source)
  tools.context.log.info({ vcl: name, file }, 'saved the source of an unmanaged VCL')
}

/** Returns what must stay for now: labels that a discarded VCL may still return to, and their targets. */
export async function discardVcls(
  tools: StepTools,
  names: readonly string[],
): Promise<readonly string[]> {
  const { labels, others } = splitLabels(names, await readInventory(tools.engine, tools.context))
  if (others.length > 0) await discardNames(tools, others)
  if (labels.length === 0) return []
  if (!(await isReleased(tools, others.length > 0 ? releaseWaitMs : 0))) return labels
  await discardNames(tools, labels)
  return []
}

/** Requests end soon; an idle worker may hold a VCL for up to a minute, which is too long to wait. */
async function isReleased({ engine, context }: StepTools, longestMs: number): Promise<boolean> {
  const endMs = performance.now() + longestMs
  for (;;) {
    const { isReleasing } = await readInventory(engine, context)
    if (isReleasing !== true) return true
    if (performance.now() >= endMs) return false
    await wait(releasePauseMs)
  }
}

/** One command with several names resolves their dependencies; before 6.6 it takes one name, so dependents are discarded first. */
async function discardNames(tools: StepTools, names: readonly string[]): Promise<void> {
  const { context, engine } = tools
  if (engine.capabilities.discardsSeveral) return engine.run(context, vclDiscard(names))
  let left = [...names]
  for (;;) {
    const refused: string[] = []
    let refusal: unknown
    for (const name of left) {
      try {
        await engine.run(context, vclDiscard([name]))
      } catch (error) {
        if (!(error instanceof ManagementPortError) || error.kind !== 'rejected') throw error
        refusal = error
        refused.push(name)
      }
    }
    if (refused.length === 0) return
    if (refused.length === left.length) throw refusal
    left = refused
  }
}
