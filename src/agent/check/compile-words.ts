/**
 * The live cache's settings that decide whether a VCL compiles, as command-line options: a private manager with these gives
 * the same verdict as the live one.
 */
import { ManagementPortError } from '../../../protocol/errors.js'
import { paramShowText } from '../../../protocol/text/param-show.js'
import type { Context } from '../../context.js'
import type { Engine } from '../engine/engine.js'

export interface CompileWords {
  /** Options for everything but the C compiler. */
  readonly words: readonly string[]
  /** Additional options for the C compiler. */
  readonly compilerWords: readonly string[]
}

/** From 7.2 on; before that each of its bits is a parameter. */
const features = 'vcc_feature'
const featuresBefore = ['vcc_allow_inline_c', 'vcc_err_unref', 'vcc_unsafe_path']
const storageLimit = 64
const storageName = /^[A-Za-z][\w-]{0,63}$/

/** Rejects with errors of the connection to the cache. */
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

/** Empty when the value is the default, which is also the program's; null when there is no such parameter. */
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

/** VCL refers to storages by name and does not compile if one is missing; the ones created here are never used. */
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
