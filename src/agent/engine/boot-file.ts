/**
 * The start file of the cache, `boot.cli`: with `varnishd -f '' -I boot.cli` a cache starts alone with the VCL that served last.
 *
 * It holds only what serves, so that a restart compiles little: the active VCL, the labels and their targets. The parameters
 * come first, in the order in which the cache accepted them, each with a dash, so that the cache starts even if it refuses
 * one. Backend health needs the child, which is not running yet: the agent sets it.
 * Certificates need the child: it is started before them. Their dash lets a cache start that no longer has a TLS listener.
 * The final `vcl.use` makes the child start by itself; releases from 7.5 on require a line feed at the end.
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

/** Rejects when a text is unavailable. */
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

/** Leaves out VCL that is loaded only for later: candidates and previous revisions. */
export function findServing(desired: DesiredEngine): DesiredEngine {
  const serving = new Set([desired.active, ...desired.labels.map((label) => label.program)])
  return { ...desired, load: desired.load.filter((program) => serving.has(program.name)) }
}

function lineOf(command: Command<unknown>): string {
  return command.line.toString()
}
