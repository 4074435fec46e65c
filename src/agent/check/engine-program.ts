/**
 * Finds the program of the cache that an agent is attached to, so that VCL is compiled beside the cache and not in it. Only a
 * program of the same release gives the same result as the cache.
 */
import { execFile } from 'node:child_process'
import { readFile, realpath } from 'node:fs/promises'
import { basename, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { findProductOfDaemon, nameProduct, products } from '../../../protocol/product.js'
import { parseBanner } from '../../../protocol/release.js'
import type { Context } from '../../context.js'
import { errorText, type Engine } from '../engine/engine.js'
import { findStranger } from '../host/trusted-program.js'
import { readProcesses } from '../apply/inventory.js'

interface ProgramSearch {
  readonly engine: Engine
  readonly context: Context
  /** The configured path; null: search for it. */
  readonly configured: string | null
}

type FoundProgram = { readonly path: string } | { readonly missing: string }

/** PATH of a service, and the folders in which distributions install the program. */
const folders = ['/usr/local/sbin', '/usr/sbin', '/usr/local/bin', '/usr/bin']
const versionTimeoutMs = 5_000

/** Rejects with errors of the connection to the cache. */
export async function findEngineProgram(search: ProgramSearch): Promise<FoundProgram> {
  const { engine, configured } = search
  if (configured !== null) return requireSameRelease(engine, configured)
  if (!engine.isOnLoopback) return { missing: 'the cache is on another host' }
  const { masterPid } = await readProcesses(engine, search.context)
  if (masterPid === null) return { missing: 'the cache does not tell its process' }
  const written = await readFirstWord(masterPid)
  // The service may not be allowed to see other users' processes.
  if (written === null) return findInstalled(engine)
  if (findProductOfDaemon(basename(written)) === null)
    return { missing: `process ${masterPid} is not seen here as a cache` }
  const path = await resolveProgram(written)
  if (path === null) return { missing: `${written} is not found here` }
  const distrusted = await findStranger(path)
  if (distrusted !== null) return { missing: distrusted }
  return requireSameRelease(engine, path)
}

/** The name that the program was started with, which is all that other users may see. */
async function readFirstWord(pid: number): Promise<string | null> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const [first = ''] = words.split('\0')
  return first === '' ? null : first
}

async function findInstalled(engine: Engine): Promise<FoundProgram> {
  for (const { daemon } of products) {
    const path = await resolveProgram(daemon)
    if (path === null || (await findStranger(path)) !== null) continue
    const found = await requireSameRelease(engine, path)
    if ('path' in found) return found
  }
  return { missing: 'its process is not seen here, and no installed program is of its release' }
}

async function resolveProgram(written: string): Promise<string | null> {
  if (isAbsolute(written)) return realpath(written).catch(() => null)
  if (written.includes('/')) return null // relative to an unknown folder
  for (const folder of folders) {
    const path = await realpath(join(folder, written)).catch(() => null)
    if (path !== null) return path
  }
  return null
}

async function requireSameRelease(engine: Engine, path: string): Promise<FoundProgram> {
  try {
    const { stdout, stderr } = await promisify(execFile)(path, ['-V'], {
      timeout: versionTimeoutMs,
    })
    // In parentheses, as in the banner.
    const { product, version, revision } = parseBanner(
      /\(([^()]*)\)/.exec(`${stderr}${stdout}`)?.[1] ?? '',
    )
    const isSame = engine.product === nameProduct(product) && version === engine.version
    if (isSame && revision === engine.revision) return { path }
    const [own, live] = [
      `${nameProduct(product)} ${version ?? '?'} ${revision ?? ''}`,
      `${engine.product} ${engine.version} ${engine.revision}`,
    ]
    return { missing: `${path} is of release ${own.trim()}, the cache of ${live.trim()}` }
  } catch (error) {
    return { missing: `${path} cannot be run: ${errorText(error).slice(0, 300)}` }
  }
}
