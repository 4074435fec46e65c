/**
 * Where `<vcl>.<backend>` patterns may be sent: the child of 7.6 and 7.7 dies of one as soon as a label exists (varnish-cache
 * #4390). Tried on real caches: it does on 7.7.0, and does not on 6.0.17, 6.5.1, 7.1.1, 8.0.1, 9.0.2 and Vinyl 9.0.1.
 */
import { isAtLeast } from '../../../protocol/release.js'
import type { Context } from '../../context.js'
import type { Engine } from './engine.js'
import { readInventory } from '../apply/inventory.js'

/** A build that names no version is taken for an unsafe one. */
export function isPatternSafe(version: string): boolean {
  const isUnsafe = isAtLeast(version, '7.6') && !isAtLeast(version, '8.0')
  return isAtLeast(version, '6.0') && !isUnsafe
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
