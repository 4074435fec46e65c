/** Checks the cache of an agent with read-only commands and the agent's permissions. */
import { execFile } from 'node:child_process'
import { readFile, open, realpath } from 'node:fs/promises'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { typedLine } from '../../protocol/command.js'
import { childStatus } from '../../protocol/commands/process.js'
import { connectManagementPort, ManagementConnection } from '../../protocol/connection.js'
import { ManagementPortError } from '../../protocol/errors.js'
import { replyText } from '../../protocol/frame.js'
import {
  findProduct,
  nameProduct,
  products,
  varnish,
  type Product,
} from '../../protocol/product.js'
import type { Settings } from '../../config/schema.js'
import { findDefaultFolder } from '../agent/host/cache-place.js'
import { parseMemoryIndex } from '../agent/counters/memory-index.js'
import { SharedMemory } from '../agent/counters/shared-memory.js'
import { chooseCache, listRunningCaches, type RunningCache } from '../agent/host/running-caches.js'
import { findSecretFile } from '../agent/host/secret-file.js'
import { requireKnownRelease } from '../enroll/choose-cache.js'
import { codeOf, textOf } from '../enroll/enroll-error.js'
import { ok, problem, type Finding } from './finding.js'

const answerTimeoutMs = 5_000
const folders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

interface Seen {
  readonly connection: ManagementConnection
  readonly settings: Settings
  readonly product: Product
  /** Such as `varnish 7.1.1`. */
  readonly release: string
  /** Null: on another host, or not visible. */
  readonly running: RunningCache | null
  /** The agent's user, named in remedies. */
  readonly userName: string
}

export async function checkCache(
  settings: Settings,
  userName: string,
): Promise<readonly Finding[]> {
  const { host, port } = settings.engineAddress
  const address = `${host}:${port}`
  const isHere = isLoopback(host)
  const file = settings.engineSecretFile ?? (await findSecretFile(isHere ? port : null))
  const running = isHere ? chooseCache(await listRunningCaches(), port) : null
  try {
    await readFile(file)
  } catch (error) {
    const group = running?.product.group ?? varnish.group
    return [problem('cache', 'secret', { file, group, reason: codeOf(error) || textOf(error) })]
  }
  const found = await connectManagementPort({
    host,
    port,
    handshakeTimeoutMs: answerTimeoutMs,
    timeoutMs: answerTimeoutMs,
    secret: () => readFile(file),
  }).catch((error: unknown) => error)
  if (!(found instanceof ManagementConnection)) return [describeRefusal(found, address, file)]
  try {
    return await checkSeen({ ...nameSeen(found), settings, running, userName })
  } catch (error) {
    // The connection ended during a command.
    if (error instanceof ManagementPortError) return [describeRefusal(error, address, file)]
    throw error
  } finally {
    found.close()
  }
}

function nameSeen(
  connection: ManagementConnection,
): Pick<Seen, 'connection' | 'product' | 'release'> {
  const { product, version } = connection.banner
  const name = nameProduct(product)
  const release = `${name} ${version ?? ''}`.trim()
  return { connection, product: findProduct(name) ?? varnish, release }
}

function describeRefusal(error: unknown, address: string, file: string): Finding {
  const isRefused = error instanceof ManagementPortError && error.kind === 'auth-refused'
  return isRefused
    ? problem('cache', 'refused', { address, file })
    : problem('cache', 'away', { address, reason: textOf(error) })
}

async function checkSeen(seen: Seen): Promise<readonly Finding[]> {
  const { settings } = seen
  return [
    ...(await checkChild(seen)),
    ...(isLoopback(settings.engineAddress.host)
      ? [await checkProgram(seen), await checkCompiler(seen), ...(await checkMemory(seen))]
      : []),
    await checkHttp(settings),
  ]
}

async function checkChild({ connection, release, settings }: Seen): Promise<readonly Finding[]> {
  const { host, port } = settings.engineAddress
  const state = await connection.run(childStatus())
  const isKnown = isKnownRelease(release)
  return [
    state === 'running'
      ? ok('cache', `${release} at ${host}:${port}, its child runs`)
      : problem('cache', 'child', { state }),
    ...(isKnown ? [] : [problem('cache', 'release', { release })]),
  ]
}

function isKnownRelease(release: string): boolean {
  const [product = '', version = ''] = release.split(' ')
  try {
    requireKnownRelease(product, version)
    return true
  } catch {
    return false
  }
}

async function checkProgram({ settings, running, connection, release }: Seen): Promise<Finding> {
  const names = [settings.engineProgram, running?.program, ...products.map(({ daemon }) => daemon)]
  for (const name of names.filter((one) => one != null)) {
    const path = await findProgram(name)
    if (path === null) continue
    const version = await readVersion(path)
    if (version.includes(connection.banner.version ?? '?'))
      return ok('program', `${path}, ${release}`)
    if (name === settings.engineProgram)
      return problem('program', 'missing', { reason: `${path} is not of release ${release}` })
  }
  return problem('program', 'missing', { reason: `no program of ${release} is found` })
}

async function readVersion(path: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(path, ['-V'], {
    timeout: answerTimeoutMs,
  }).catch(() => ({ stdout: '', stderr: '' }))
  return stdout + stderr
}

async function checkCompiler({ connection }: Seen): Promise<Finding> {
  const text = replyText(await connection.run(typedLine('param.show cc_command')))
  // `Value is: exec gcc -g -O2 …`; 6.0 puts it in quotes.
  const program = /Value is:\s*"?(?:exec )?([^\s"]+)/.exec(text)?.[1] ?? 'gcc'
  const path = await findProgram(program)
  return path === null
    ? problem('compiler', 'missing', { program })
    : ok('compiler', `${path} compiles VCL`)
}

async function findProgram(name: string): Promise<string | null> {
  for (const folder of folders) {
    const path = await realpath(resolve(folder, name)).catch(() => null)
    if (path !== null) return path
  }
  return null
}

async function checkMemory(seen: Seen): Promise<readonly Finding[]> {
  const { settings, product, running, userName } = seen
  const folder =
    settings.engineName === null
      ? (running?.workingDirectory ??
        (await findDefaultFolder(product.stateFolder, product, running?.pid ?? null)))
      : resolve(product.stateFolder, settings.engineName)
  if (folder === null) return [problem('counters', 'folder')]
  const rights = { folder, group: product.group, user: userName }
  try {
    const reading = new SharedMemory(folder, () => true).read()
    if (reading === null) return [problem('counters', 'none', { folder })]
    const counters = ok('counters', `${reading.values.size} counters in ${folder}`)
    return [counters, await checkLog(folder, rights)]
  } catch (error) {
    return [
      problem('counters', 'unreadable', { ...rights, reason: codeOf(error) || textOf(error) }),
    ]
  }
}

async function checkLog(
  folder: string,
  rights: Readonly<Record<string, string>>,
): Promise<Finding> {
  const child = join(folder, '_.vsm_child')
  try {
    const index = parseMemoryIndex(await readFile(join(child, '_.index'), 'utf8'))
    const log = index?.segments.find(({ kind }) => kind === 'Log')
    if (!log) throw new Error('the child shares no log')
    await (await open(join(child, log.file), 'r')).close()
    return ok('log', `${join(child, log.file)} can be read`)
  } catch (error) {
    return problem('log', 'unreadable', { ...rights, reason: codeOf(error) || textOf(error) })
  }
}

async function checkHttp({ engineHttp: { host, port } }: Settings): Promise<Finding> {
  const address = `${host}:${port}`
  return (await isListening(host, port))
    ? ok('ports', `the cache listens at ${address}`)
    : problem('ports', 'http', { address })
}

/** Connects without sending data. */
function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve_) => {
    const socket = connect({ host, port, timeout: answerTimeoutMs })
    const end = (is: boolean) => (): void => {
      socket.destroy()
      resolve_(is)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}
