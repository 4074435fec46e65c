/** Facts of a running cache that only root sees: they become settings of the agent once its user has the required rights. */
import { readFileSync } from 'node:fs'
import { readFile, readlink, realpath } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { connectManagementPort } from '../../protocol/connection.js'
import { nameProduct, type Product } from '../../protocol/product.js'
import { findDefaultFolder } from '../agent/host/cache-place.js'
import { SharedMemory } from '../agent/counters/shared-memory.js'
import type { RunningCache } from '../agent/host/running-caches.js'
import { findHttpAddress, findManagementAddress, requireKnownRelease } from './choose-cache.js'
import { codeOf, EnrollError, textOf } from './enroll-error.js'
import { actAs, type HostUser } from './host-user.js'

export interface InspectedCache {
  /** Such as `varnish 7.1.1`. */
  readonly release: string
  readonly product: Product
  readonly address: string
  readonly secretFile: string
  readonly workingDirectory: string
  readonly program: string | null
  readonly http: string | null
}

/** A manager that was started without `-S` creates this file (mgt_cli.c, mgt_cli_secret). */
const ownSecret = '_.secret'
const answerTimeoutMs = 10_000

/** Must run as root. Throws EnrollError for a cache that cannot be managed. */
export async function inspectCache(cache: RunningCache): Promise<InspectedCache> {
  const { pid, product } = cache
  const address = findManagementAddress(cache)
  const workingDirectory =
    cache.workingDirectory ?? (await findDefaultFolder(product.stateFolder, product, pid))
  if (workingDirectory === null)
    throw new EnrollError(
      `the working directory of the cache of pid ${pid} is not found below ${product.stateFolder}: start it with -n and an absolute path`,
    )
  const secretFile = cache.secretFile ?? join(workingDirectory, ownSecret)
  if (!isAbsolute(secretFile))
    throw new EnrollError(
      `the secret of the cache of pid ${pid} is at ${secretFile}, below an unknown folder: start it with -S and an absolute path`,
    )
  const release = await askRelease(address, secretFile)
  return {
    release,
    product,
    address,
    secretFile,
    workingDirectory,
    program: await findProgram(cache),
    http: findHttpAddress(cache),
  }
}

async function askRelease(address: string, secretFile: string): Promise<string> {
  const { hostname, port } = new URL(`tcp://${address}`)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  try {
    const connection = await connectManagementPort({
      host,
      port: Number(port),
      handshakeTimeoutMs: answerTimeoutMs,
      secret: () => readFile(secretFile),
    })
    connection.close()
    const { product, version } = connection.banner
    requireKnownRelease(nameProduct(product), version)
    return `${nameProduct(product)} ${version ?? ''}`.trim()
  } catch (error) {
    if (error instanceof EnrollError) throw error
    throw new EnrollError(
      `the management port ${address} of the cache cannot be used: ${textOf(error)}; its -T and -S, and the file ${secretFile}, must be those of the cache that runs`,
      { cause: error },
    )
  }
}

/** Null if its program was replaced and no longer exists. */
async function findProgram({ pid, program }: RunningCache): Promise<string | null> {
  const running = await readlink(`/proc/${pid}/exe`).catch(() => '')
  const written = isAbsolute(program) ? program : ''
  for (const path of [running, written]) {
    const real = path === '' ? null : await realpath(path).catch(() => null)
    if (real !== null) return real
  }
  return null
}

/** Throws EnrollError for the first file that the user may not read. */
export function requireRights(
  { product, secretFile, workingDirectory }: InspectedCache,
  user: HostUser,
): void {
  const secret = actAs(user, () => tryTo(() => readFileSync(secretFile)))
  if (secret !== null)
    throw new EnrollError(
      `user ${user.name} may not read the cache's secret ${secretFile} (${codeOf(secret)}): chgrp ${user.name} ${secretFile} && chmod 640 ${secretFile}`,
      { cause: secret },
    )
  const memory = new SharedMemory(workingDirectory, () => true)
  const counters = actAs(user, () => tryTo(() => memory.read()))
  if (counters !== null)
    throw new EnrollError(
      `user ${user.name} may not read the cache's counters in ${workingDirectory} (${codeOf(counters) || textOf(counters)}): usermod -aG ${product.group} ${user.name}`,
      { cause: counters },
    )
}

/** Returns the error; null: none. */
function tryTo(work: () => unknown): Error | null {
  try {
    work()
    return null
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
