/** Does one step of a plan on the cache. */
import { vclDiscard, vclInline, vclLabel, vclShow, vclUse } from '../../protocol/commands/vcl.js'
import { paramSet } from '../../protocol/commands/param.js'
import { startChild } from '../../protocol/commands/process.js'
import { ManagementPortError } from '../../protocol/errors.js'
import { isAtLeast } from '../../protocol/release.js'
import type { Context } from '../context.js'
import type { VclStep } from '../domain/vcl-plan.js'
import type { Engine } from './engine.js'
import type { SavedState } from './saved-state.js'
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
      return saveForeignVcl(tools, step.name)
    case 'label':
      return engine.run(context, vclLabel(step.label, step.program))
    case 'use':
      return engine.run(context, vclUse(step.name))
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
    case 'discard':
      return `discarded ${step.names.join(', ')}`
    case 'start':
      return 'started the child'
  }
}

async function saveForeignVcl(tools: StepTools, name: string): Promise<void> {
  const source = await showWhole(tools, name)
  const file = await tools.state.saveForeign(name, source)
  tools.context.log.info({ vcl: name, file }, 'saved the source of a foreign VCL')
}

/** Chosen by us: `cli_limit` is raised for as long as a text needs it, since an unsaved VCL cannot be discarded. */
async function showWhole(tools: StepTools, name: string): Promise<Buffer> {
  const { context, engine } = tools
  try {
    return await engine.run(context, vclShow(name))
  } catch (error) {
    if (!isCut(error)) throw error
  }
  const { value } = await engine.run(context, engine.reading.paramShow('cli_limit'))
  if (typeof value !== 'number' && typeof value !== 'string')
    throw new Error('cli_limit has no value')
  await engine.run(context, paramSet('cli_limit', largestCliLimit))
  try {
    return await engine.run(context, vclShow(name))
  } finally {
    await engine.run(context, paramSet('cli_limit', String(value)))
  }
}

/** The cache's own maximum (mgt_param_tbl, cli_limit). */
const largestCliLimit = '99999999b'

/** Status 201: more than `cli_limit`. */
function isCut(error: unknown): boolean {
  return error instanceof ManagementPortError && error.status === 201
}

/** Several names in one command know their dependencies; before 6.6 a command takes one, so dependents go first. */
async function discardVcls(tools: StepTools, names: readonly string[]): Promise<void> {
  const { context, engine } = tools
  if (engine.version === '' || isAtLeast(engine.version, '6.6'))
    return engine.run(context, vclDiscard(names))
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
