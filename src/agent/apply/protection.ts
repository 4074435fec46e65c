/**
 * Whether the cache protects the parameters that nobody may set: any other client of its management port could run
 * programs through them. Only a start with `varnishd -r` protects them.
 */
import type { Logger } from 'pino'
import { typedLine } from '../../../protocol/command.js'
import type { Param } from '../../../protocol/commands/param.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import { findProduct, varnish } from '../../../protocol/product.js'
import { replyText } from '../../../protocol/frame.js'
import { paramShowText } from '../../../protocol/text/param-show.js'
import { createContext, type Context } from '../../context.js'
import { isSettableParameter, neverSettable } from '../../vcl/engine-command.js'
import type { Engine } from '../engine/engine.js'

/** Called after each connect; warns when the finding is new. Never rejects. */
export function createProtectionCheck(engine: Engine, log: Logger): () => Promise<void> {
  let logged = ''
  return async () => {
    if (engine.error !== null) return
    try {
      const { denied, open } = await findUnprotected(engine, createContext(log))
      const { daemon } = findProduct(engine.product) ?? varnish
      const line = `${daemon} -r ${denied.join(',')}`
      const isNews = open.length > 0 && logged !== open.join()
      logged = open.join()
      if (isNews)
        log.warn(
          { unprotected: open, startWith: line },
          `anyone who reaches the management port can run programs as the cache: start it with ${line}`,
        )
    } catch (error) {
      // The cache disconnected or truncates its answer: the next connection checks again.
      if (!(error instanceof ManagementPortError)) log.error({ err: error }, 'protection check')
    }
  }
}

async function findUnprotected(engine: Engine, context: Context): Promise<Protection> {
  const listed = readNames(replyText(await engine.run(context, typedLine('param.show'))))
  // Releases with aliases do not list the aliases.
  const names = new Set([...listed.filter((name) => !isSettableParameter(name)), ...neverSettable])
  const shown = new Map<string, Param>()
  for (const name of [...names].toSorted()) {
    const param = await showParameter(engine, context, name)
    if (param !== null) shown.set(name, param)
  }
  return judgeProtection(shown)
}

interface Protection {
  /** The names for `-r`. */
  readonly denied: readonly string[]
  readonly open: readonly string[]
}

/** Judges what the cache shows for each of these names. */
export function judgeProtection(shown: ReadonlyMap<string, Param>): Protection {
  // From 8.0 on an alias is shown as its parameter: it is protected together with it, and `-r` refuses the alias.
  const own = [...shown].filter(([asked, { name }]) => asked === name)
  const open = own.filter(([, param]) => param.isImplemented && !isProtected(param))
  return { denied: own.map(([name]) => name), open: open.map(([name]) => name) }
}

/** mgt_param.c, PROTECTED_TEXT: the same words since 4.0. */
function isProtected({ description }: Param): boolean {
  return /parameter is protected/.test(description?.replace(/\s+/g, ' ') ?? '')
}

/** Null when the cache has no parameter of that name. */
async function showParameter(
  engine: Engine,
  context: Context,
  name: string,
): Promise<Param | null> {
  try {
    return await engine.run(context, paramShowText(name))
  } catch (error) {
    if (error instanceof ManagementPortError && error.kind === 'rejected') return null
    throw error
  }
}

/** Reads the short list: one name at the start of each line. */
function readNames(list: string): readonly string[] {
  return list.split('\n').flatMap((line) => /^[a-z][a-z0-9_]*/.exec(line)?.[0] ?? [])
}
