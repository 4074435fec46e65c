/**
 * Where `<vcl>.<backend>` patterns may be sent: the 7.7.3 child dies of one as soon as a label exists (varnish-cache #4390);
 * 6.0 and 7.1 are tested safe, 7.6 to 8.x count as unsafe until they are tested (choices: 3, Backends).
 */
import { isAtLeast } from '../../protocol/release.js'
import type { Context } from '../context.js'
import type { Engine } from './engine.js'
import { readInventory } from './inventory.js'

/** A build that names no version is taken for an unsafe one. */
export function isPatternSafe(version: string): boolean {
  return version.startsWith('6.') || (isAtLeast(version, '7.0') && !isAtLeast(version, '7.6'))
}

/** Whether such a pattern kills nothing on this cache as it is now. */
export async function mayAskPattern(engine: Engine, context: Context): Promise<boolean> {
  if (isPatternSafe(engine.version)) return true
  const { vcls } = await readInventory(engine, context)
  return vcls.every((vcl) => vcl.labelOf === null)
}

export function describeUnsafePattern({ version }: Pick<Engine, 'version'>): string {
  return `release ${version || 'without a version'} may lose its child process over a pattern with a dot while a label is loaded`
}

/** Why a command may not be sent; null when it may. */
export async function findUnsafePattern(
  engine: Engine,
  context: Context,
  command: { readonly name: string; readonly words: readonly string[] },
): Promise<string | null> {
  if (command.name !== 'backend.list' || !command.words.some((word) => word.includes('.')))
    return null
  if (await mayAskPattern(engine, context)) return null
  return describeUnsafePattern(engine)
}
