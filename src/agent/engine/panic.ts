/**
 * The panic message of the cache's child. The cache keeps only the last one, so the agent fetches it whenever the child has
 * changed, saves it in the state dir, and then clears it in the cache.
 */
import { panicClear, panicShow } from '../../../protocol/commands/process.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import type { Context } from '../../context.js'
import type { Engine } from './engine.js'
import type { SavedState } from '../apply/saved-state.js'

export interface PanicTools {
  readonly context: Context
  readonly engine: Engine
  readonly state: SavedState
}

/** `mayClear`: false for an agent that changes nothing. Rejects with errors of the connection to the cache. */
export async function keepPanic(tools: PanicTools, mayClear: boolean): Promise<void> {
  const { context, engine, state } = tools
  const text = await showPanic(tools)
  if (text === null) return
  if (text !== (await state.readPanic())) {
    await state.savePanic(text)
    context.log.error({ panic: text.slice(0, loggedCharacters) }, 'the child of the cache panicked')
  }
  // Another panic may have occurred meanwhile: only the saved one is cleared.
  if (mayClear && (await showPanic(tools)) === text) await engine.run(context, panicClear())
}

/** The last panic: the cache's own, else the saved one; null when there was none. */
export async function readPanic(tools: PanicTools): Promise<string | null> {
  const kept = await tools.state.readPanic()
  try {
    return (await tools.engine.run(tools.context, panicShow())) ?? kept
  } catch (error) {
    if (kept === null) throw error
    return kept
  }
}

const loggedCharacters = 500

/** Also null when it cannot be read: longer than `cli_limit`, or another release. */
async function showPanic({ context, engine }: PanicTools): Promise<string | null> {
  try {
    return await engine.run(context, panicShow())
  } catch (error) {
    if (!(error instanceof ManagementPortError) || error.kind !== 'rejected') throw error
    context.log.warn({ why: error.message }, 'the panic of the child cannot be read')
    return null
  }
}
