/**
 * The caches running on this host, by the command lines of their managers (proc(5)): they supply what no setting defines.
 * Any user may start a process of that name, so only processes of root and of this user count.
 */
import { readdir, readFile, realpath } from 'node:fs/promises'
import { basename, isAbsolute, resolve } from 'node:path'
import { findProductOfDaemon, type Product } from '../../../protocol/product.js'

export interface RunningCache {
  readonly pid: number
  /** Derived from its program. */
  readonly product: Product
  /** The first word of its command line, possibly without a folder. */
  readonly program: string
  /** All values of `-T`. */
  readonly managementPorts: readonly string[]
  /** All values of `-a`: where it serves clients. */
  readonly listenAddresses: readonly string[]
  /** `-S`; null: it generated its own secret. */
  readonly secretFile: string | null
  /** `-n` as an absolute path; null: the default of its release. */
  readonly workingDirectory: string | null
}

/** Options with a value, which may follow without a blank (mgt_main.c, opt_spec, 6.0 to 9.0). */
const withValue = /[abEfhiIjlMnPprSsTtWxA]/

/** Unordered; empty if `/proc` cannot be read. */
export async function listRunningCaches(): Promise<readonly RunningCache[]> {
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(pids.map(readRunningCache))
  return found.filter((one) => one !== null)
}

/** Null if the process is no manager of a cache, or belongs to another user. */
export async function readRunningCache(pid: number): Promise<RunningCache | null> {
  const words = (await readProcFile(pid, 'cmdline')).split('\0')
  const cache = parseCommandLine(pid, words, await readTarget(words[0]))
  // The child has its manager's command line but its own name.
  if (cache === null || (await readProcFile(pid, 'comm')).trim() === 'cache-main') return null
  const user = readRealUser(await readProcFile(pid, 'status'))
  return user !== null && [0, process.geteuid?.()].includes(user) ? cache : null
}

/** Resolves links: packages of one product link the other's names to it. */
async function readTarget(program = ''): Promise<string> {
  return isAbsolute(program) ? realpath(program).catch(() => program) : program
}

/** Null if the program is not a cache's. `target`: the link target of the first word. */
export function parseCommandLine(
  pid: number,
  words: readonly string[],
  target = words[0],
): RunningCache | null {
  const [program = '', ...options] = words
  const product =
    findProductOfDaemon(basename(target ?? '')) ?? findProductOfDaemon(basename(program))
  if (product === null) return null
  const values = readOptions(options)
  const name = values.get('n')?.at(-1)
  return {
    pid,
    product,
    program,
    managementPorts: values.get('T') ?? [],
    listenAddresses: values.get('a') ?? [],
    secretFile: values.get('S')?.at(-1) ?? null,
    workingDirectory: name === undefined ? null : resolve(product.stateFolder, name),
  }
}

/** The manager drops its effective user, but never the real one (mgt_jail_unix.c). */
function readRealUser(status: string): number | null {
  const digits = /^Uid:\s*(\d+)/m.exec(status)?.[1]
  return digits === undefined ? null : Number(digits)
}

/** The cache that listens on this management port, else the only one; null if that is ambiguous. */
export function chooseCache(caches: readonly RunningCache[], port: number): RunningCache | null {
  const listening = caches.filter(({ managementPorts }) =>
    managementPorts.some((address) => readPort(address) === port),
  )
  const [first, ...others] = listening.length > 0 ? listening : caches
  return first !== undefined && others.length === 0 ? first : null
}

/** `host:port`, `host port`, `:port` (vtcp.c, VTCP_name). */
function readPort(address: string): number | null {
  const digits = /(?:^|[: ])(\d{1,5})$/.exec(address)?.[1]
  return digits === undefined ? null : Number(digits)
}

/** The values of each option, in order. */
function readOptions(words: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>()
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (!word.startsWith('-')) continue
    // Flags without a value may be combined, the last one with its value: `-Fn/srv/cache`.
    const at = word.search(withValue)
    if (at < 1) continue
    const option = word.charAt(at)
    const value = word.length > at + 1 ? word.slice(at + 1) : words[++index]
    if (value !== undefined) values.set(option, [...(values.get(option) ?? []), value])
  }
  return values
}

/** Empty when there is no such process. */
function readProcFile(pid: number, name: string): Promise<string> {
  return readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
}
