/**
 * The start file of the cache, `boot.cli`: with `varnishd -f '' -I boot.cli` a cache comes up alone with what served last.
 *
 * It holds what serves and no more, so that a restart compiles little: the active VCL, the labels, what they stand for;
 * before them the parameters, in the order in which the cache took them, each with the dash by which a cache starts that
 * refuses it. Backend health needs the child, which does not run yet: the agent sets it.
 * Certificates need the child: it is started before them, and with the dash a cache starts that has no TLS listener any more.
 * `vcl.use` at its end makes the child start by itself; releases from 7.5 on want a line feed at the end.
 */
import { paramSet } from '../../../protocol/commands/param.js'
import { startChild } from '../../../protocol/commands/process.js'
import { tlsCertCommit, tlsCertLoad } from '../../../protocol/commands/tls.js'
import { vclInline, vclLabel, vclUse } from '../../../protocol/commands/vcl.js'
import type { Command } from '../../../protocol/command.js'
import type { DesiredEngine } from '../../vcl/desired-engine.js'
import { settableParams } from '../../vcl/settings-plan.js'
import { planVcl } from '../../vcl/plan.js'
import type { AgentRecord } from '../agent-record.js'
import type { Sources } from '../apply/sources.js'

interface BootTexts {
  readonly sources: Sources
  readonly certificates: { readonly pathOf: (name: string) => string }
}

/** Rejects when a text is not to be had. */
export async function renderBootFile(
  { settings, certificates: claims }: Pick<AgentRecord, 'settings' | 'certificates'>,
  desired: DesiredEngine,
  { sources, certificates }: BootTexts,
): Promise<string> {
  const nothing = { childRunning: false, vcls: [] }
  const steps = planVcl({ desired: findServing(desired), inventory: nothing, managed: new Set() })
  const wanted = new Map(settableParams(desired).map(({ name, value }) => [name, value]))
  const lines = settings.params
    .filter(({ name, value }) => wanted.get(name) === value)
    .map(({ name, value }) => `-${lineOf(paramSet(name, value))}`)
  for (const step of steps) {
    if (step.do === 'load') lines.push(lineOf(vclInline(step.name, await sources.read(step.sha))))
    if (step.do === 'label') lines.push(lineOf(vclLabel(step.label, step.program)))
  }
  const loads = claims
    .filter(({ state }) => state === 'committed')
    .map(({ name }) => `-${lineOf(tlsCertLoad(name, certificates.pathOf(name)))}`)
  const tls =
    loads.length === 0 ? [] : [lineOf(startChild()), ...loads, `-${lineOf(tlsCertCommit())}`]
  return [...lines, lineOf(vclUse(desired.active)), ...tls, ''].join('\n')
}

/** Without what is loaded for later only: candidates and previous revisions. */
export function findServing(desired: DesiredEngine): DesiredEngine {
  const serving = new Set([desired.active, ...desired.labels.map((label) => label.program)])
  return { ...desired, load: desired.load.filter((program) => serving.has(program.name)) }
}

function lineOf(command: Command<unknown>): string {
  return command.line.toString()
}
