/** Commands that would kill the child and so are not sent: some releases lose it over certain commands while labels are loaded. */
import { hasQuirk } from '../../../protocol/quirks.js'
import type { Context } from '../../context.js'
import type { Engine } from './engine.js'
import { readInventory } from '../apply/inventory.js'

/** True when a `<vcl>.<backend>` pattern is safe on this cache in its present state. */
export async function mayAskPattern(engine: Engine, context: Context): Promise<boolean> {
  if (!hasQuirk(engine.version, 'patternKillsChild')) return true
  return (await listLabels(engine, context)).length === 0
}

export function describeUnsafePattern({ version }: Pick<Engine, 'version'>): string {
  return `release ${version || 'without a version'} may lose its child process over a pattern with a dot while a label is loaded`
}

/** Why a command must not be sent; null when it is safe. */
export async function findDeadly(
  engine: Engine,
  context: Context,
  { name, words }: { readonly name: string; readonly words: readonly string[] },
): Promise<string | null> {
  if (name === 'backend.list' && words.some((word) => word.includes('.')))
    return (await mayAskPattern(engine, context)) ? null : describeUnsafePattern(engine)
  if (name !== 'vcl.show' || !hasQuirk(engine.version, 'shownLabelKillsChild')) return null
  const labels = await listLabels(engine, context)
  // The child splits words at blanks once more.
  const label = words.flatMap((word) => word.split(/\s/)).find((word) => labels.includes(word))
  return label === undefined
    ? null
    : `release ${engine.version || 'without a version'} may lose its child process over the source of a label: ask for that of the program that ${label} stands for`
}

async function listLabels(engine: Engine, context: Context): Promise<readonly string[]> {
  const { vcls } = await readInventory(engine, context)
  return vcls.flatMap(({ name, labelOf }) => (labelOf === null ? [] : [name]))
}
