/**
 * A manager of the cache's program for one compile, beside the live one: in its own process group, at the lowest priority,
 * with limits, in a working directory that is removed. Commands go over its standard input and output (`-d`): it has no
 * listener, needs no secret, and ends whenever and however this process ends.
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
  /** Further command-line options. */
  readonly words: readonly string[]
  /** Distinguishes this agent's folders from those of others on the host. */
  readonly owner: string
  readonly limits: CompileLimits
  /** A cache's child reserves much more memory than it uses. */
  readonly withChild: boolean
  /** Limit of each process unless it raises its own, up to that of `limits`. */
  readonly softMemoryBytes?: number
  /** Command prefix: a program that executes the next one. */
  readonly through?: readonly string[]
  /** Ends the manager at once. */
  readonly signal: AbortSignal
  /** Writes required files into the manager's folder; returns variables for its environment. */
  readonly prepare?: (folder: string) => Promise<Readonly<Record<string, string>>>
}

export type RunCommand = <Result>(command: Command<Result>) => Promise<Result>

/** A running manager. */
export interface PrivateCache {
  /** Its `-n`. */
  readonly workingDirectory: string
  readonly banner: Banner
}

type PrivateWork<Result> = (run: RunCommand, cache: PrivateCache) => Promise<Result>

export interface PrivateRun<Result> {
  /** `exceeded`: the processes were killed because of a limit. `broken`: the manager did not start, or ended by itself. */
  readonly outcome:
    | { readonly kind: 'done'; readonly result: Result }
    | { readonly kind: 'exceeded'; readonly limit: 'cpu' | 'time' }
    | { readonly kind: 'broken'; readonly reason: string }
  /** Upper bound of its CPU time. */
  readonly cpuMs: number
}

/** The limit of a load in the live cache, independent of the host's load. */
export const longestCompileMs = 120_000
const startTimeoutMs = 30_000
const pollMs = 100
/** Cost of a manager's start; the kernel reports whole hundredths of a second, rounded down. */
const leastCpuMs = 20
const outputLimitCharacters = 2_000
const reasonLimitCharacters = 500
/** Added to the kernel's own limit, which applies to each process, even while this process cannot poll. */
const hardLimitMarginSeconds = 2

/** Rejects only with errors of `work` that are not from the management port, or when no folder can be created. */
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
      detached: true, // its own process group, ended as a whole
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
    // The cost is read once more at the end; a process that is gone has no figures.
    this.#polling = startLoop({ log: null, everyMs: pollMs, pass: () => this.#poll() })
    this.#signal = options.signal
    this.#signal.addEventListener('abort', this.#kill)
  }

  async use<Result>(work: PrivateWork<Result>): Promise<PrivateRun<Result>> {
    const outcome = await this.#work(work)
    await this.#poll()
    // The cost since the last poll of a manager that is gone is unknown: at most the time that has passed.
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
    // A graceful stop may take a minute if a child has connections.
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

/** Not this process's own environment, which may contain secrets; compiler messages in English. */
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
    // Limits the address space if most of it is used, else only writable memory.
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
