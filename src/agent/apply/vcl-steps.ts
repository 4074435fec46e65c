/** Does one step of a plan on the cache. */
import { ban } from '../../../protocol/commands/ban.js'
import { vclDiscard, vclInline, vclLabel, vclUse } from '../../../protocol/commands/vcl.js'
import { startChild } from '../../../protocol/commands/process.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import type { Context } from '../../context.js'
import type { VclStep } from '../../vcl/plan.js'
import type { Engine } from '../engine/engine.js'
import type { SavedState } from './saved-state.js'
import { showSource } from './shown-source.js'
import type { Sources } from './sources.js'

export interface StepTools {
  readonly context: Context
  readonly engine: Engine
  readonly state: SavedState
  readonly sources: Sources
}

/** Rejects with what the cache, the coordinator (a missing source) or the disk said. */
export async function runStep(tools: StepTools, step: VclStep): Promise<void> {
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
      // True of every object, and tested by the ban lurker too, which sees no requests.
      return engine.run(context, ban([{ field: 'obj.status', operator: '!=', value: '0' }]))
    case 'discard':
      return discardVcls(tools, step.names)
    case 'start':
      return engine.run(context, startChild())
  }
}

/** In one word or two, for logs and drift reports. */
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

/** Several names in one command know their dependencies; before 6.6 a command takes one, so dependents go first. */
async function discardVcls(tools: StepTools, names: readonly string[]): Promise<void> {
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
