/**
 * A manager of the cache's program for one compile, beside the live one: in a group of processes of its own, at the lowest
 * priority, under limits, in a working directory that is removed. It is spoken to over its standard input and output (`-d`):
 * it listens nowhere, needs no secret, and ends when this process does, however that ends.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { Duplex, type Readable, type Writable } from 'node:stream'
import type { Command } from '../../../protocol/command.js'
import {
  openManagementConnection,
  type ManagementConnection,
} from '../../../protocol/connection.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import type { Banner } from '../../../protocol/release.js'
import type { CompileLimits } from '../../vcl/compile-limits.js'
import { makeCheckFolder, removeCheckFolder } from './check-folder.js'
import { readCpuMs } from './process-cost.js'
import { startLoop, type Loop } from '../../runtime/loop.js'

interface PrivateManagerOptions {
  /** Absolute path of the cache's program. */
  readonly program: string
  /** Further words of its command line. */
  readonly words: readonly string[]
  /** Tells the folders of this agent from those of others on the host. */
  readonly owner: string
  readonly limits: CompileLimits
  /** A child of a cache reserves much more than it uses. */
  readonly withChild: boolean
  /** Of each process that does not give itself more, up to that of `limits`. */
  readonly softMemoryBytes?: number
  /** Words before it, of a program that becomes the next. */
  readonly through?: readonly string[]
  /** Ends it at once. */
  readonly signal: AbortSignal
  /** Puts into its folder what it needs; answers what it finds in its environment. */
  readonly prepare?: (folder: string) => Promise<Readonly<Record<string, string>>>
}

export type RunCommand = <Result>(command: Command<Result>) => Promise<Result>

/** Of a manager that runs. */
export interface PrivateCache {
  /** Its `-n`. */
  readonly workingDirectory: string
  readonly banner: Banner
}

type PrivateWork<Result> = (run: RunCommand, cache: PrivateCache) => Promise<Result>

export interface PrivateRun<Result> {
  /** `exceeded`: the processes were ended because of it. `broken`: the manager did not start, or ended by itself. */
  readonly outcome:
    | { readonly kind: 'done'; readonly result: Result }
    | { readonly kind: 'exceeded'; readonly limit: 'cpu' | 'time' }
    | { readonly kind: 'broken'; readonly reason: string }
  /** What it cost, not less. */
  readonly cpuMs: number
}

/** As long as the live cache may take for a load, whatever else the host has to do meanwhile. */
export const longestCompileMs = 120_000
const startTimeoutMs = 30_000
const pollMs = 100
/** What the start of a manager takes; the kernel tells whole hundredths of a second, rounded down. */
const leastCpuMs = 20
const outputLimitCharacters = 2_000
const reasonLimitCharacters = 500
/** The kernel's own limit is for each process, and holds also while this process cannot look. */
const hardLimitMarginSeconds = 2

/** Rejects only with what `work` throws that is not of the management port, and when no folder can be made. */
export async function runPrivately<Result>(
  options: PrivateManagerOptions,
  work: PrivateWork<Result>,
): Promise<PrivateRun<Result>> {
  const folder = await makeCheckFolder(options.owner)
  try {
    const own = await options.prepare?.(folder)
    const manager = new PrivateManager(options, folder, { ...environment, ...own })
    try {
      return await manager.use(work)
    } finally {
      await manager.end()
    }
  } finally {
    await removeCheckFolder(folder)
  }
}

class PrivateManager {
  readonly #limits: CompileLimits
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #ended: Promise<void>
  readonly #polling: Loop
  readonly #startedAt = performance.now()
  readonly #signal: AbortSignal
  readonly #workingDirectory: string
  #output = ''
  #cpuMs = 0
  #polledAt = performance.now()
  #exceeded: 'cpu' | 'time' | null = null
  #isGone = false

  constructor(options: PrivateManagerOptions, folder: string, env: NodeJS.ProcessEnv) {
    const { limits } = options
    this.#limits = limits
    this.#workingDirectory = `${folder}/n`
    this.#process = spawn('nice', composeWords(options, this.#workingDirectory), {
      detached: true, // a group of its own, ended as a whole
      stdio: ['pipe', 'pipe', 'pipe'],
      env,
    })
    this.#process.stderr.on('data', (chunk: Buffer) => {
      this.#output = `${this.#output}${chunk.toString()}`.slice(-outputLimitCharacters)
    })
    this.#ended = new Promise((resolve) => {
      const end = () => {
        this.#isGone = true
        resolve()
      }
      this.#process.once('error', (error) => {
        this.#output += error.message
        end()
      })
      this.#process.once('exit', end)
    })
    // What it takes is asked again at the end; a process that is gone tells nothing.
    this.#polling = startLoop({ log: null, everyMs: pollMs, pass: () => this.#poll() })
    this.#signal = options.signal
    this.#signal.addEventListener('abort', this.#kill)
  }

  async use<Result>(work: PrivateWork<Result>): Promise<PrivateRun<Result>> {
    const outcome = await this.#work(work)
    await this.#poll()
    // What a manager that is gone cost since its last check is not known: at most the time that went by.
    const unknownMs = this.#isGone ? performance.now() - this.#polledAt : 0
    return { outcome, cpuMs: Math.ceil(Math.max(leastCpuMs, this.#cpuMs + unknownMs)) }
  }

  async #work<Result>(work: PrivateWork<Result>): Promise<PrivateRun<Result>['outcome']> {
    let connection: ManagementConnection | null = null
    try {
      const opened = await this.#connect()
      connection = opened
      const { banner } = opened
      const result = await work((command) => opened.run(command, { timeoutMs: longestCompileMs }), {
        workingDirectory: this.#workingDirectory,
        banner,
      })
      return { kind: 'done', result }
    } catch (error) {
      if (this.#exceeded !== null) return { kind: 'exceeded', limit: this.#exceeded }
      if (!(error instanceof ManagementPortError)) throw error
      if (error.kind === 'timeout') return { kind: 'exceeded', limit: 'time' }
      const output = error.kind === 'rejected' ? '' : `: ${this.#output}`
      const reason = `${error.message}${output}`.replace(/\s+/g, ' ').trim()
      return { kind: 'broken', reason: reason.slice(0, reasonLimitCharacters) }
    } finally {
      connection?.close()
    }
  }

  async end(): Promise<void> {
    await this.#polling.close()
    this.#signal.removeEventListener('abort', this.#kill)
    // What is asked politely may take a minute where a child has connections.
    this.#kill()
    await this.#ended
  }

  #connect(): Promise<ManagementConnection> {
    const { stdin, stdout } = this.#process
    stdin.on('error', () => undefined) // the end of the process follows
    const stream = Duplex.from({ writable: stdin, readable: stdout })
    const secret = () => Promise.reject(new Error('a private manager has none'))
    return openManagementConnection(stream, { secret, handshakeTimeoutMs: startTimeoutMs })
  }

  async #poll(): Promise<void> {
    const { pid } = this.#process
    const cpuMs = pid === undefined || this.#isGone ? null : await readCpuMs(pid)
    if (cpuMs === null || this.#isGone) return
    this.#cpuMs = Math.max(this.#cpuMs, cpuMs)
    this.#polledAt = performance.now()
    if (cpuMs > this.#limits.cpuMs) this.#exceed('cpu')
    else if (this.#polledAt - this.#startedAt > longestCompileMs) this.#exceed('time')
  }

  #exceed(limit: 'cpu' | 'time'): void {
    this.#exceeded ??= limit
    this.#kill()
  }

  readonly #kill = (): void => {
    const { pid } = this.#process
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // All of the group are gone.
    }
  }
}

/** Nothing of this process's own environment, which may hold secrets; messages of compilers in English. */
const environment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
}

function composeWords(options: PrivateManagerOptions, workingDirectory: string): string[] {
  const { program, words, limits, withChild } = options
  const memory = [options.softMemoryBytes ?? limits.memoryBytes, limits.memoryBytes].join(':')
  const seconds = Math.ceil(limits.cpuMs / 1000)
  return [
    ...['-n', '19', ...(options.through ?? [])],
    ...['prlimit', `--cpu=${seconds}:${seconds + hardLimitMarginSeconds}`],
    // Address space where that is what is used; else what is written to.
    ...[`--${withChild ? 'data' : 'as'}=${memory}`, '--core=0', program],
    ...['-d', '-f', '', '-n', workingDirectory, '-T', 'none', '-S', 'none', '-a', '127.0.0.1:0'],
    ...(withChild ? smallChild : []),
    ...words,
  ]
}

const smallChild = [
  ...['-p', 'vsl_space=1m', '-p', 'thread_pools=1'],
  ...['-p', 'thread_pool_min=5', '-p', 'thread_pool_max=10'],
]
