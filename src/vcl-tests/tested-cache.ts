/** The private cache of one test while its steps run, and the operations on it. */
import { probeCapabilities } from '../../protocol/capabilities.js'
import { textCommand } from '../../protocol/command.js'
import { backendSetHealth } from '../../protocol/commands/backend.js'
import { ban } from '../../protocol/commands/ban.js'
import { hasQuirk } from '../../protocol/quirks.js'
import { chooseReadingCommands, type ReadingCommands } from '../../protocol/reading.js'
import type { PrivateCache, RunCommand } from '../agent/check/private-manager.js'
import { pauseFor } from '../runtime/pause.js'
import { parseBanExpression } from '../vcl/ban-expression.js'
import type { FoundBackend } from './replace-backends.js'
import type { TestedVcl } from './tested-vcl.js'

interface TestedCacheOptions {
  readonly run: RunCommand
  readonly cache: PrivateCache
  readonly vcl: TestedVcl
  /** Name of the VCL. */
  readonly program: string
}

/** The default limit for an agent's wait for the probes of a new VCL (docs/behaviour.md, Deploy). */
const warmUpMs = 10_000
const pollPauseMs = 20
/** Used when the cache cannot be polled. */
const fixedWarmUpMs = 1_000

/** The listen port; a text reply in all releases. */
const listenAddress = textCommand('debug.listen_address', 'debug.listen_address', (text) =>
  Number(/127\.0\.0\.1[ :](\d+)/.exec(text)?.[1] ?? 0),
)

export class TestedCache {
  readonly #options: TestedCacheOptions
  readonly #reading: ReadingCommands
  readonly port: number

  static async open(options: TestedCacheOptions): Promise<TestedCache> {
    const { run, cache } = options
    const capabilities = await probeCapabilities({ run }, cache.banner.version)
    const reading = chooseReadingCommands(capabilities)
    return new TestedCache(options, reading, await run(listenAddress))
  }

  private constructor(options: TestedCacheOptions, reading: ReadingCommands, port: number) {
    this.#options = options
    this.#reading = reading
    this.port = port
  }

  /**
   * Waits until every probed backend is healthy, as an agent does before it switches, or sick because of the test's own answers.
   * Returns the names of the sick backends.
   */
  async warmUp(
    backends: readonly FoundBackend[],
    isRefused: (backend: string) => boolean,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const probed = backends.filter(({ isProbed }) => isProbed).map(({ name }) => name)
    if (probed.length === 0) return []
    if (!this.#mayAskPattern()) {
      await pauseFor(fixedWarmUpMs, signal)
      return probed.filter(isRefused)
    }
    const endAt = performance.now() + warmUpMs
    for (;;) {
      const sick = await this.#listSick(probed)
      const isOver = performance.now() > endAt || signal.aborted
      if (isOver || sick.every(isRefused)) return sick
      await pauseFor(pollPauseMs, signal)
    }
  }

  async #listSick(probed: readonly string[]): Promise<readonly string[]> {
    const { run, program } = this.#options
    const rows = await run(this.#reading.backendList({ pattern: `${program}.*` }))
    const sick = new Set(rows.flatMap(({ name, isHealthy }) => (isHealthy ? [] : [name])))
    return probed.filter((name) => sick.has(`${program}.${name}`))
  }

  async ban(expression: string): Promise<void> {
    await this.#options.run(ban(parseBanExpression(expression)))
  }

  /** Throws an Error when this release cannot set it. */
  async setHealth(backend: string, health: 'sick' | 'healthy'): Promise<void> {
    const { run, program, cache } = this.#options
    if (!this.#mayAskPattern())
      throw new Error(
        `the health of a backend cannot be set beside a label on ${cache.banner.version ?? 'this release'}`,
      )
    await run(backendSetHealth(`${program}.${backend}`, health))
  }

  #mayAskPattern(): boolean {
    const { vcl, cache } = this.#options
    return vcl.routed === null || !hasQuirk(cache.banner.version, 'patternKillsChild')
  }
}
