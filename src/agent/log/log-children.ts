/** Runs of the log tool on this host: readers of the same lines share one; it restarts when it dies and ends with its last reader. */
import type { Logger } from 'pino'
import { FleetError } from '../../errors.js'
import { pauseAfter } from '../../runtime/backoff.js'
import { LogChild, type LogRun, type LogTool } from './log-child.js'

export interface LogReader {
  readonly onLine: (line: string) => void
  /** The tool never ran and is not retried: no tool, no permission, or a query that it refuses. */
  readonly onEnd: (why: string) => void
}

interface LogChildrenOptions {
  /** Rejects with the reason why there is none. */
  readonly findTool: (run: LogRun) => Promise<LogTool>
  readonly log: Logger
}

/** docs/behaviour.md, Live log. */
const maxChildren = 8
const backoff = { firstMs: 500, longestMs: 30_000 }
/** A tool that ended sooner has printed why it cannot run. */
const settledMs = 2_000

export class LogChildren {
  readonly #options: LogChildrenOptions
  readonly #shared = new Map<string, SharedChild>()

  constructor(options: LogChildrenOptions) {
    this.#options = options
  }

  /** Reads until the returned function is called. Throws FleetError 'unavailable' when too many tools are running. */
  read(run: LogRun, reader: LogReader): () => Promise<void> {
    const key = JSON.stringify(run)
    let child = this.#shared.get(key)
    if (!child) {
      if (this.#shared.size >= maxChildren)
        throw new FleetError(
          'unavailable',
          'log',
          `this host runs ${maxChildren} log readers already; end some, or ask for the same lines`,
        )
      child = new SharedChild(this.#options, run, () => {
        this.#shared.delete(key)
      })
      this.#shared.set(key, child)
    }
    return child.add(reader)
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#shared.values()].map((child) => child.stop()))
  }
}

class SharedChild {
  readonly #options: LogChildrenOptions
  readonly #run: LogRun
  readonly #forget: () => void
  readonly #readers = new Set<LogReader>()
  #child: LogChild | null = null
  #again: NodeJS.Timeout | undefined
  #failures = 0
  #isStopped = false

  constructor(options: LogChildrenOptions, run: LogRun, forget: () => void) {
    this.#options = options
    this.#run = run
    this.#forget = forget
    void this.#start() // catches all
  }

  add(reader: LogReader): () => Promise<void> {
    this.#readers.add(reader)
    return async () => {
      if (this.#readers.delete(reader) && this.#readers.size === 0) await this.stop()
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#forget()
    clearTimeout(this.#again)
    await this.#child?.stop()
  }

  async #start(): Promise<void> {
    const startedAtMs = performance.now()
    try {
      const tool = await this.#options.findTool(this.#run)
      if (this.#isStopped) return
      this.#child = new LogChild({
        tool,
        run: this.#run,
        onLine: (line) => {
          for (const { onLine } of this.#readers) onLine(line)
        },
        onEnd: (why) => {
          this.#ended(why, performance.now() - startedAtMs)
        },
      })
    } catch (error) {
      this.#ended(error instanceof Error ? error.message : String(error), 0)
    }
  }

  #ended(why: string, ranForMs: number): void {
    if (this.#isStopped) return
    if (ranForMs < settledMs && this.#failures === 0) {
      for (const { onEnd } of this.#readers) onEnd(why)
      void this.stop()
      return
    }
    this.#failures = ranForMs < settledMs ? this.#failures + 1 : 1
    const waitMs = pauseAfter(this.#failures, backoff)
    // Not before: when the service stops, its tools may end first.
    this.#again = setTimeout(() => {
      this.#options.log.warn({ why, waitMs }, 'the log tool ended; it is started again')
      void this.#start()
    }, waitMs)
  }
}
