/** Loads the VCL of a test as an agent would: compiles it, labels and routes it if it has domains, then starts the child process. */
import { createHash } from 'node:crypto'
import type { Command } from '../../protocol/command.js'
import { paramSet } from '../../protocol/commands/param.js'
import { startChild } from '../../protocol/commands/process.js'
import { vclDiscard, vclInline, vclLabel, vclUse } from '../../protocol/commands/vcl.js'
import { ManagementPortError } from '../../protocol/errors.js'
import { paramShowText } from '../../protocol/text/param-show.js'
import type { RunCommand } from '../agent/check/private-manager.js'
import { judgeRefusal } from '../vcl/compile-verdict.js'
import { translateError } from '../vcl/compiler-text.js'
import { idleVclName, idleVclSource, programName } from '../vcl/desired-engine.js'
import { labelName, makeRoutingVcl } from '../vcl/routing.js'
import type { TestedVcl } from './tested-vcl.js'

type LoadedTested =
  | { readonly ok: true; readonly program: string }
  /** The error refers to the author's files. */
  | { readonly ok: false; readonly error: string }

/** `text`: the text of `vcl` with its backends replaced. */
export async function loadTested(
  run: RunCommand,
  vcl: TestedVcl,
  text: string,
): Promise<LoadedTested> {
  await giveCompilerMore(run)
  const sha = createHash('sha256').update(text).digest('hex')
  const program = programName(vcl.groupId, sha, 1)
  const refusal = await findRefusal(run, vclInline(program, text))
  if (refusal !== null) return { ok: false, error: translate(refusal, vcl) }
  const { routed } = vcl
  const names = routed === null ? [program] : await route(run, { ...vcl, routed }, program)
  await run(vclUse(names[0] ?? program))
  if ((await findRefusal(run, startChild())) === null) return { ok: true, program }
  const why = await explainStart(run, names, vclInline(program, text))
  return { ok: false, error: translate(why, vcl) }
}

function translate(words: string, { sourceMap }: TestedVcl): string {
  return sourceMap === null ? words : translateError(words, sourceMap)
}

/** Returns the loaded VCLs and labels in the order in which they can be discarded. */
async function route(
  run: RunCommand,
  { groupId, routed }: TestedVcl & { readonly routed: NonNullable<TestedVcl['routed']> },
  program: string,
): Promise<readonly string[]> {
  const label = labelName(groupId)
  const routing = makeRoutingVcl(routed.domains.map((fqdn) => ({ fqdn, groupId })))
  await run(vclLabel(label, program))
  await run(vclInline(routing.name, routing.text))
  return [routing.name, label, program]
}

/** The compiler needs more memory than a cache that runs tests may use: its shell raises the soft limit to the hard limit. */
async function giveCompilerMore(run: RunCommand): Promise<void> {
  const { value } = await run(paramShowText('cc_command'))
  if (typeof value !== 'string') return
  await run(paramSet('cc_command', `ulimit -Sd $(ulimit -Hd) && ${value}`))
}

/** The manager does not report the error of a `vcl_init` that fails while the child starts; a running child does. */
async function explainStart(
  run: RunCommand,
  loaded: readonly string[],
  again: Command<string>,
): Promise<string> {
  await run(vclInline(idleVclName, idleVclSource))
  await run(vclUse(idleVclName))
  for (const name of loaded) await run(vclDiscard([name]))
  return (
    (await findRefusal(run, startChild())) ??
    (await findRefusal(run, again)) ??
    'the cache does not start with it'
  )
}

async function findRefusal(run: RunCommand, command: Command<unknown>): Promise<string | null> {
  try {
    await run(command)
    return null
  } catch (error) {
    if (!(error instanceof ManagementPortError) || error.kind !== 'rejected') throw error
    const words = error.text?.trim() ? error.text : error.message
    const verdict = judgeRefusal(words)
    if (verdict.kind === 'exceeded')
      return verdict.limit === 'cpu'
        ? 'its compile takes more CPU time than it may'
        : 'its compile takes more memory than it may'
    return words
  }
}
