/** Runs one text through a private manager: only parsed, compiled, or also initialized by a child. */
import type { Command } from '../../../protocol/command.js'
import { paramSet } from '../../../protocol/commands/param.js'
import { panicShow, startChild } from '../../../protocol/commands/process.js'
import { vclInline, vclLabel, vclUse } from '../../../protocol/commands/vcl.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import type { Context } from '../../context.js'
import type { CompileLimits } from '../../vcl/compile-limits.js'
import { judgeRefusal, type CompileVerdict } from '../../vcl/compile-verdict.js'
import { idleVclSource } from '../../vcl/desired-engine.js'
import { findStatements } from '../../vcl/statements.js'
import { describeDeadChild, isOfDeadChild } from '../engine/dead-child.js'
import type { Engine } from '../engine/engine.js'
import { readInventory } from '../apply/inventory.js'
import type { LiveSettings } from './live-compiler.js'
import { runPrivately, type PrivateRun, type RunCommand } from './private-manager.js'

/** `read`: only the VCL compiler runs. `init`: a child also runs vcl_init. */
export type CompileDepth = 'read' | 'compile' | 'init'

interface PrivateCompile {
  readonly text: string
  readonly depth: CompileDepth
  readonly limits: CompileLimits
  readonly settings: LiveSettings
  /** The live cache, which is asked for its labels if the text refers to any. */
  readonly engine: Engine
  readonly context: Context
  readonly owner: string
  readonly signal: AbortSignal
}

/** Names that are not used on the live cache; only this manager has them. */
const idleName = 'cf-check-idle'
const checkedName = 'cf-check'
const noCompiler = 'exec true'

export async function compilePrivately(
  compile: PrivateCompile,
): Promise<PrivateRun<CompileVerdict>> {
  const { settings, limits, owner, depth, signal } = compile
  const labels = await findLabels(compile)
  const { words, compilerWords, program } = settings
  const withChild = depth === 'init'
  // Targets of labels are compiled, so the C compiler is disabled only after that.
  const isReadOnly = depth === 'read' && labels.length === 0
  const compiler = isReadOnly ? ['-p', `cc_command=${noCompiler}`] : compilerWords
  return runPrivately(
    { program, words: [...words, ...compiler], owner, limits, withChild, signal },
    async (run) => {
      if (labels.length > 0 || withChild) {
        const idle = await loadIdle(run)
        if (idle.kind === 'exceeded') return idle
      }
      for (const label of labels) await run(vclLabel(label, idleName))
      if (withChild) {
        await run(vclUse(idleName))
        await run(startChild())
      }
      if (depth === 'read' && !isReadOnly) await run(paramSet('cc_command', noCompiler))
      return judge(run, vclInline(checkedName, compile.text))
    },
  )
}

/** Loads the target of all labels, with which the child also starts. */
async function loadIdle(run: RunCommand): Promise<CompileVerdict> {
  const verdict = await judge(run, vclInline(idleName, idleVclSource))
  if (verdict.kind !== 'refused') return verdict
  throw new ManagementPortError('rejected', `the idle VCL does not load: ${verdict.text}`)
}

/** Labels of the live cache that the text may refer to; none for most texts. */
async function findLabels({ text, engine, context }: PrivateCompile): Promise<readonly string[]> {
  if (!callsLabel(text)) return []
  const { vcls } = await readInventory(engine, context)
  return vcls
    .filter(({ labelOf, name }) => labelOf !== null && text.includes(name))
    .map(({ name }) => name)
}

function callsLabel(text: string): boolean {
  for (const { kind } of findStatements(text)) if (kind === 'vcl-call') return true
  return false
}

async function judge(run: RunCommand, load: Command<string>): Promise<CompileVerdict> {
  const startedAtMs = Date.now()
  try {
    await run(load)
    return { kind: 'compiles' }
  } catch (error) {
    if (!(error instanceof ManagementPortError) || error.kind !== 'rejected') throw error
    if (isOfDeadChild(error)) {
      const panic = await run(panicShow())
      return { kind: 'refused', text: describeDeadChild(panic, startedAtMs) }
    }
    const words = error.text?.trim() ? error.text : error.message
    return judgeRefusal(words)
  }
}
