/**
 * What of the live cache's settings decides whether a VCL compiles, as words of a command line: a private manager with these
 * says what the live one would.
 */
import { ManagementPortError } from '../../../protocol/errors.js'
import { paramShowText } from '../../../protocol/text/param-show.js'
import type { Context } from '../../context.js'
import type { Engine } from '../engine/engine.js'

export interface CompileWords {
  /** For all but the C compiler. */
  readonly words: readonly string[]
  /** Further ones for that. */
  readonly compilerWords: readonly string[]
}

/** From 7.2 on; before, each of its bits is a parameter. */
const features = 'vcc_feature'
const featuresBefore = ['vcc_allow_inline_c', 'vcc_err_unref', 'vcc_unsafe_path']
const storageLimit = 64
const storageName = /^[A-Za-z][\w-]{0,63}$/

/** Rejects with what the connection to the cache does. */
export async function readCompileWords(engine: Engine, context: Context): Promise<CompileWords> {
  const show = (name: string) => showChanged(engine, context, name)
  const bits = (await show(features)) ?? (await Promise.all(featuresBefore.map(show))).flat()
  const paths = [...((await show('vcl_path')) ?? []), ...((await show('vmod_path')) ?? [])]
  return {
    words: [
      ...paths,
      ...bits.filter((word) => word !== null),
      ...(await readStorage(engine, context)),
    ],
    compilerWords: [...((await show('cc_command')) ?? []), ...((await show('cc_warnings')) ?? [])],
  }
}

/** None when it is at its default, which is the program's own; null where there is no such parameter. */
async function showChanged(
  engine: Engine,
  context: Context,
  name: string,
): Promise<readonly string[] | null> {
  try {
    const { value, default: standard } = await engine.run(context, paramShowText(name))
    if (typeof value !== 'string' || value === standard) return []
    return ['-p', `${name}=${value}`]
  } catch (error) {
    if (error instanceof ManagementPortError && error.kind === 'rejected') return null
    throw error
  }
}

/** VCL names storages, and one that is not there does not compile; none of these is ever used. */
async function readStorage(engine: Engine, context: Context): Promise<readonly string[]> {
  const list = await engine.run(context, engine.reading.storageList()).catch((error: unknown) => {
    if (error instanceof ManagementPortError && error.kind === 'rejected') return []
    throw error
  })
  return list
    .map(({ name }) => name.replace(/^storage\./, ''))
    .filter((name) => storageName.test(name) && name !== 'Transient')
    .slice(0, storageLimit)
    .flatMap((name) => ['-s', `${name}=malloc,1m`])
}
