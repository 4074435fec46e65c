/** The complete source of a loaded VCL as the cache shows it, and the hash that identifies it. */
import type { Command } from '../../../protocol/command.js'
import { paramSet } from '../../../protocol/commands/param.js'
import { vclShow, vclShowParts } from '../../../protocol/commands/vcl.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import { rebuildInSteps, type VclPart } from '../../vcl/running-vcl.js'
import { runInSteps } from '../../in-steps.js'
import type { StepTools } from './vcl-steps.js'

type Tools = Pick<StepTools, 'context' | 'engine'>

/** Returns only the main file. Rejects with ManagementPortError. */
export function showSource(tools: Tools, name: string): Promise<Buffer> {
  return runWhole(tools, vclShow(name))
}

/** Returns each file, without the built-in VCL; null when one of them is not UTF-8 text. Rejects with ManagementPortError. */
export async function showParts(tools: Tools, name: string): Promise<readonly VclPart[] | null> {
  const shown = await runWhole(tools, vclShowParts(name))
  const parts: VclPart[] = []
  for (const { file, source } of shown) {
    if (/^<?builtin>?$/i.test(file)) continue
    try {
      parts.push({ file, text: strictUtf8.decode(source) })
    } catch {
      return null // the decoder's one error: these bytes are not UTF-8
    }
  }
  return parts
}

/** Keeps a byte order mark, so that the text matches the bytes. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** SHA-256 (hex) of its text with its includes, as the coordinator flattens it; null if unknown. */
export async function digestRunning(tools: Tools, name: string): Promise<string | null> {
  const parts = await showParts(tools, name)
  if (parts === null) return null
  const rebuilt = await runInSteps(rebuildInSteps(parts, 'any'))
  return rebuilt.ok ? rebuilt.bundle.sha : null
}

/** Raises `cli_limit` while a text needs it, because a VCL that is not saved must not be discarded. */
async function runWhole<Result>(tools: Tools, command: Command<Result>): Promise<Result> {
  const { context, engine } = tools
  try {
    return await engine.run(context, command)
  } catch (error) {
    if (!isCut(error)) throw error
  }
  const { value } = await engine.run(context, engine.reading.paramShow('cli_limit'))
  if (typeof value !== 'number' && typeof value !== 'string')
    throw new Error('cli_limit has no value')
  await engine.run(context, paramSet('cli_limit', largestCliLimit))
  try {
    return await engine.run(context, command)
  } finally {
    await engine.run(context, paramSet('cli_limit', String(value)))
  }
}

/** The cache's own maximum (mgt_param_tbl, cli_limit). */
const largestCliLimit = '99999999b'

/** Status 201: more than `cli_limit`. */
function isCut(error: unknown): boolean {
  return error instanceof ManagementPortError && error.status === 201
}
