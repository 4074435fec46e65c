/**
 * What the child of the cache said when it panicked: the cache keeps the last one only, so it is fetched whenever the child
 * is another one than before, kept in the state dir, and cleared in the cache once it is kept.
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

/** `mayClear`: false for an agent that changes nothing. Rejects with what the connection to the cache does. */
export async function keepPanic(tools: PanicTools, mayClear: boolean): Promise<void> {
  const { context, engine, state } = tools
  const text = await showPanic(tools)
  if (text === null) return
  if (text !== (await state.readPanic())) {
    await state.savePanic(text)
    context.log.error({ panic: text.slice(0, loggedCharacters) }, 'the child of the cache panicked')
  }
  // Another one may have come meanwhile: only what is kept is cleared.
  if (mayClear && (await showPanic(tools)) === text) await engine.run(context, panicClear())
}

/** The last panic: the cache's own, else the one that was kept; null when there was none. */
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

/** Null also when the cache does not let it be read: longer than `cli_limit`, or another release. */
async function showPanic({ context, engine }: PanicTools): Promise<string | null> {
  try {
    return await engine.run(context, panicShow())
  } catch (error) {
    if (!(error instanceof ManagementPortError) || error.kind !== 'rejected') throw error
    context.log.warn({ why: error.message }, 'the panic of the child cannot be read')
    return null
  }
}
