/** Lists the backends of a cache. Sends only reading commands. */
import type { Backend, BackendListOptions } from '../../../protocol/commands/backend.js'
import type { Context } from '../../context.js'
import { readInventory } from '../apply/inventory.js'
import { mayAskPattern } from '../engine/deadly-commands.js'
import { isCut, type Engine } from '../engine/engine.js'

/** Backends of all VCLs if that query is safe; else of the active VCL (docs/behaviour.md, Backends). */
export async function listBackends(engine: Engine, context: Context): Promise<readonly Backend[]> {
  const list = (options?: BackendListOptions) =>
    engine.run(context, engine.reading.backendList(options))
  if (!(await mayAskPattern(engine, context))) return list()
  try {
    return await list({ pattern: '*.*' })
  } catch (error) {
    if (!isCut(error)) throw error
  }
  const { vcls } = await readInventory(engine, context)
  const backends: Backend[] = []
  for (const { name, labelOf } of vcls)
    if (labelOf === null) backends.push(...(await list({ pattern: `${name}.*` })))
  return backends
}
