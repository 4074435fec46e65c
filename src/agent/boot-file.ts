/**
 * The start file of the cache, `boot.cli`: with `varnishd -f '' -I boot.cli` a cache comes up alone with what served last.
 *
 * It holds what serves and no more, so that a restart compiles little: the active VCL, the labels, what they stand for.
 * `vcl.use` at its end makes the child start by itself; releases from 7.5 on want a line feed at the end.
 */
import { vclInline, vclLabel, vclUse } from '../../protocol/commands/vcl.js'
import type { Command } from '../../protocol/command.js'
import type { DesiredEngine } from '../domain/desired-engine.js'
import { planVcl } from '../domain/vcl-plan.js'
import type { Sources } from './sources.js'

/** Rejects when a text is not to be had. */
export async function renderBootFile(desired: DesiredEngine, sources: Sources): Promise<string> {
  const nothing = { childRunning: false, vcls: [] }
  const steps = planVcl({ desired: findServing(desired), inventory: nothing, ours: new Set() })
  const lines: string[] = []
  for (const step of steps) {
    if (step.do === 'load') lines.push(lineOf(vclInline(step.name, await sources.read(step.sha))))
    if (step.do === 'label') lines.push(lineOf(vclLabel(step.label, step.program)))
  }
  return [...lines, lineOf(vclUse(desired.active)), ''].join('\n')
}

/** Without what is loaded for later only: candidates and previous revisions. */
export function findServing(desired: DesiredEngine): DesiredEngine {
  const serving = new Set([desired.active, ...desired.labels.map((label) => label.program)])
  return { ...desired, load: desired.load.filter((program) => serving.has(program.name)) }
}

function lineOf(command: Command<unknown>): string {
  return command.line.toString()
}
