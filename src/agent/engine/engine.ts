/**
 * Keeps one authenticated connection to the cache for the agent's lifetime: if a cache is absent, hangs, sends garbage or closes
 * at once, the agent retries and never exits. All commands of an agent go through `run`, which logs them.
 */
import { readFile } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import {
  capabilitiesOf,
  probeCapabilities,
  type Capabilities,
} from '../../../protocol/capabilities.js'
import type { Command } from '../../../protocol/command.js'
import {
  connectManagementPort,
  openManagementConnection,
  type ManagementConnection,
  type Outcome,
  type RunOptions,
} from '../../../protocol/connection.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import { cliStatus } from '../../../protocol/status.js'
import { nameProduct } from '../../../protocol/product.js'
import { ping } from '../../../protocol/commands/process.js'
import { tlsCertList } from '../../../protocol/commands/tls.js'
import { chooseReadingCommands, type ReadingCommands } from '../../../protocol/reading.js'
import type { Context } from '../../context.js'
import { findSecretFile } from '../host/secret-file.js'
import { isReadingCommand } from '../../vcl/engine-command.js'
import { pauseFor } from '../../runtime/pause.js'
import { pauseAfter } from '../../runtime/backoff.js'
import { retryForever } from '../../runtime/retry.js'

/** How to connect to the management port. */
type EnginePort =
  | {
      readonly mode: 'attach'
      readonly host: string
      readonly port: number
      /** Read again at each authentication; null: the secret file of the running cache. */
      readonly secretFile: string | null
      /** The cache's `-n`, if known. */
      readonly workingDirectory?: string | null
    }
  | {
      readonly mode: 'simulated'
      /** A new connection to an engine in this process. */
      readonly connect: () => Duplex
      readonly secret: Buffer
    }

/**
 * The manager has one thread: a compile delays all other commands, so the limit is long. Together with the pause between two checks
 * it stays within the 60 s after which a cache that does not answer is Failing (docs/behaviour.md, Failing).
 */
const quickCommandTimeoutMs = 30_000
const retries = { firstMs: 100, longestMs: 2_000 }
/** A connection shorter than this suggests that the next one will fail too. */
const shortLifeMs = 1_000
const loggedCharacters = 300

export class Engine {
  readonly #port: EnginePort
  readonly #log: Logger
  readonly #ending = new AbortController()
  #connection: ManagementConnection | null = null
  /** Empty: connected, or not tried yet. */
  #error = ''
  #product = ''
  #version = ''
  #revision = ''
  #capabilities = capabilitiesOf(null)
  #hasTls = false
  #reading = chooseReadingCommands(this.#capabilities)
  #connections = 0
  #recognized = 0
  #loads = 0
  #run: Promise<void> | null = null
  /** Called when a connection is ready, and when it is lost or fails, once per reason. */
  #onChange: () => void = () => undefined

  constructor(port: EnginePort, log: Logger) {
    this.#port = port
    this.#log = log
  }

  start(onChange: () => void): void {
    this.#onChange = onChange
    this.#run = this.#stayConnected()
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    this.#connection?.close()
    await this.#run
  }

  /** `varnish`, `vinyl`, or another product's name from the banner; empty until the cache was reached. */
  get product(): string {
    return this.#product
  }

  /** From the banner, such as `7.1.1`; empty until the cache was reached or if the banner has none. */
  get version(): string {
    return this.#version
  }

  /** From the banner too, such as `7cee1c581bead20e88d101ab3d72afb29f14d87a`. */
  get revision(): string {
    return this.#revision
  }

  /** The reading commands in the form that this release supports. */
  get reading(): ReadingCommands {
    return this.#reading
  }

  /** What this cache supports, probed on connect. */
  get capabilities(): Capabilities {
    return this.#capabilities
  }

  /** True when it has a TLS listener that takes certificates, probed on connect. */
  get hasTls(): boolean {
    return this.#hasTls
  }

  /** Null if unknown or if the engine has none. */
  get workingDirectory(): string | null {
    return this.#port.mode === 'attach' ? (this.#port.workingDirectory ?? null) : null
  }

  /** True when it was dialled on a loopback address. */
  get isOnLoopback(): boolean {
    if (this.#port.mode !== 'attach') return false
    const { host } = this.#port
    return host === 'localhost' || host === '::1' || host.startsWith('127.')
  }

  /** True when the process ids that it reports may be looked up on this host. */
  get isOfThisHost(): boolean {
    return this.#port.mode === 'attach'
  }

  /** Counts connections: they end with a cache's manager, so another cache always means another connection. */
  get connections(): number {
    return this.#connections
  }

  /** True when the cache of this connection was found to be the earlier one; for releases that report no pid. */
  get isRecognized(): boolean {
    return this.#recognized === this.#connections
  }

  /** `connection`: the one on which the cache was recognized. */
  noteRecognized(connection: number): void {
    this.#recognized = connection
  }

  /** Why there is no connection, in one line; null while there is one. */
  get error(): string | null {
    return this.#connection ? null : this.#error || 'not reached yet'
  }

  /** True once `stop` was called: a closed connection is then not reopened. */
  isEnding(): boolean {
    return this.#ending.signal.aborted
  }

  /** A load by this agent is in progress: the cache answers nothing else meanwhile, which is not a fault. */
  get isLoading(): boolean {
    return this.#loads > 0
  }

  /** Rejects with ManagementPortError; `lost` with `sent: false` when there is no connection. */
  async run<Result>(
    context: Context,
    command: Command<Result>,
    options: RunOptions = {},
  ): Promise<Result> {
    const level = isReadingCommand(command.name) ? 'debug' : 'info'
    if (this.#log.isLevelEnabled(level))
      context.log[level]({ command: describeLine(command) }, 'engine command')
    const isLoad = command.name === 'vcl.inline' || command.name === 'vcl.load'
    if (isLoad) this.#loads += 1
    try {
      return await this.#connected(command.name).run(command, options)
    } catch (error) {
      if (level === 'info')
        context.log.warn({ command: command.name, why: errorText(error) }, 'engine command failed')
      throw error
    } finally {
      if (isLoad) this.#loads -= 1
    }
  }

  /** Runs many commands in order, some of them in flight, and returns an outcome for each. Never rejects. */
  async runAll<Result>(
    context: Context,
    commands: readonly Command<Result>[],
  ): Promise<readonly Outcome<Result>[]> {
    const [first] = commands
    if (!first) return []
    this.#logAll(context, first.name, commands)
    try {
      return await this.#connected(first.name).runAll(commands)
    } catch (error) {
      if (!(error instanceof ManagementPortError)) throw error
      return commands.map(() => ({ ok: false, error }))
    }
  }

  /** Logs once per batch: at a thousand commands a second a line for each would cost too much. */
  #logAll(context: Context, name: string, commands: readonly Command<unknown>[]): void {
    if (!this.#log.isLevelEnabled('info')) return
    context.log.info({ command: name, commands: commands.length }, 'engine commands')
    if (!this.#log.isLevelEnabled('debug')) return
    for (const command of commands)
      context.log.debug({ command: describeLine(command) }, 'engine command')
  }

  #connected(command: string): ManagementConnection {
    if (this.#connection) return this.#connection
    const message = `not sent: the cache is not reached: ${this.#error || 'not tried yet'}`
    throw new ManagementPortError('lost', message, { command, sent: false })
  }

  async #stayConnected(): Promise<void> {
    const { signal } = this.#ending
    while (!this.isEnding()) {
      try {
        const connection = await retryForever(() => this.#connect(), {
          pauseMs: (failures) => pauseAfter(failures, retries),
          signal,
        })
        await this.#live(connection)
      } catch (error) {
        if (!this.isEnding()) throw error
      }
    }
  }

  /** Also probes capabilities: a cache that greets and then hangs or closes does not count as reached. */
  async #connect(): Promise<ManagementConnection> {
    try {
      const connection = await this.#open()
      const { signal } = this.#ending
      const close = () => {
        connection.close()
      }
      signal.addEventListener('abort', close)
      try {
        await connection.run(ping())
        this.#capabilities = await probeCapabilities(connection, connection.banner.version)
        this.#hasTls = await probeTls(connection, this.#capabilities)
        return connection
      } catch (error) {
        close()
        throw error
      } finally {
        signal.removeEventListener('abort', close)
      }
    } catch (error) {
      this.#fail(errorText(error))
      throw new Error('the cache is not reached', { cause: error })
    }
  }

  #open(): Promise<ManagementConnection> {
    const port = this.#port
    const common = { timeoutMs: quickCommandTimeoutMs, signal: this.#ending.signal }
    if (port.mode === 'attach') {
      const { host, port: number, secretFile } = port
      const secret = async () =>
        readFile(secretFile ?? (await findSecretFile(this.isOnLoopback ? number : null)))
      return connectManagementPort({ ...common, host, port: number, secret })
    }
    const secret = () => Promise.resolve(port.secret)
    return openManagementConnection(port.connect(), { ...common, secret })
  }

  async #live(connection: ManagementConnection): Promise<void> {
    const startedAt = performance.now()
    if (this.isEnding()) {
      connection.close()
      return
    }
    this.#product = nameProduct(connection.banner.product)
    this.#version = connection.banner.version ?? ''
    this.#revision = connection.banner.revision ?? ''
    this.#reading = chooseReadingCommands(this.#capabilities)
    this.#connections += 1
    this.#connection = connection
    this.#error = ''
    this.#log.info({ product: this.#product, version: this.#version }, 'connected to the cache')
    this.#onChange()
    const reason = await connection.closed
    this.#connection = null
    if (this.isEnding()) return
    this.#fail(reason.message)
    if (performance.now() - startedAt < shortLifeMs)
      await pauseFor(retries.longestMs, this.#ending.signal)
  }

  #fail(error: string): void {
    const isNew = error !== this.#error
    this.#error = error
    if (!isNew || this.isEnding()) return
    this.#log.warn({ why: error }, 'the cache is not reached')
    this.#onChange()
  }
}

/** Listeners are fixed when the cache starts. */
async function probeTls(
  connection: ManagementConnection,
  capabilities: Capabilities,
): Promise<boolean> {
  if (!capabilities.hasCommand('tls.cert.list')) return false
  try {
    return (await connection.run(tlsCertList())) !== null
  } catch (error) {
    if (error instanceof ManagementPortError && error.kind === 'rejected') return false
    throw error
  }
}

/** The command line without VCL text, truncated; only the name for a command with secrets. */
function describeLine(command: Command<unknown>): string {
  if (command.sensitive) return command.name
  const start =
    typeof command.line === 'string'
      ? command.line.slice(0, loggedCharacters)
      : command.line.toString('utf8', 0, loggedCharacters)
  return start.split('\n', 1)[0]?.replace(/ << \S+$/, '') ?? ''
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** True when the answer was truncated: it exceeds the cache's `cli_limit`. */
export function isCut(error: unknown): boolean {
  return error instanceof ManagementPortError && error.status === cliStatus.truncated
}
