/**
 * Starts the archive's thread and represents it in the coordinator. A thread that cannot start or that dies is replaced. In the
 * meantime questions are refused and samples are queued; uncommitted samples of the dead thread are lost, a gap of some seconds.
 * A coordinator does its other work without statistics.
 */
import { FleetError } from '../../../errors.js'
import { linkArchive, noStatistics, type ArchiveLink, type ArchiveSetup } from './archive-link.js'
import type { CacheSample, StatisticsArchive } from './statistics-archive.js'
import type { AskedMethod, Question } from './thread-messages.js'
import { pauseAfter } from '../../../runtime/backoff.js'
import { startLoop, type Loop } from '../../../runtime/loop.js'

export type { ArchiveSetup } from './archive-link.js'

/** A fleet's samples arrive spread over the interval; they are sent to the thread in batches. */
export const batchMs = 1000
/**
 * The maximum number of samples buffered for one batch, or while no thread runs; further ones are lost. This is one minute of
 * 5,000 caches at 10 s; sending them takes about 20 ms.
 */
const maxWaiting = 30_000
/** The pause before a restart doubles each time; it resets to the shortest after a thread that outlived the longest pause. */
const restarts = { firstMs: 500, longestMs: 60_000 }

/** Resolves after the first attempt, whether it succeeded or failed. */
export async function startArchive(setup: ArchiveSetup): Promise<StatisticsArchive> {
  const archive = new ThreadedArchive(setup)
  await archive.start()
  return archive
}

class ThreadedArchive implements StatisticsArchive {
  readonly #setup: ArchiveSetup
  readonly #starts: Loop
  #samples: CacheSample[] = []
  #timer: NodeJS.Timeout | null = null
  #link: ArchiveLink | null = null
  #isClosed = false
  /** Consecutive threads that ended early. */
  #shortLives = 0
  #why = noStatistics('the archive is closed')

  constructor(setup: ArchiveSetup) {
    this.#setup = setup
    this.#starts = startLoop({ log: null, everyMs: null, pass: () => this.#startThread() })
  }

  start(): Promise<void> {
    return this.#starts.runNow()
  }

  record(sample: CacheSample): void {
    if (this.#isClosed || this.#samples.length >= maxWaiting) return
    this.#samples.push(sample)
    this.#timer ??= setTimeout(() => {
      this.#send()
    }, batchMs)
  }

  release(agentId: number): void {
    this.#send()
    this.#link?.release(agentId)
  }

  readSeries(...given: Question<'readSeries'>['given']) {
    return this.#ask('readSeries', ...given)
  }

  readNewest(...given: Question<'readNewest'>['given']) {
    return this.#ask('readNewest', ...given)
  }

  readNewestEach(...given: Question<'readNewestEach'>['given']) {
    return this.#ask('readNewestEach', ...given)
  }

  retain(...given: Question<'retain'>['given']) {
    return this.#ask('retain', ...given)
  }

  commit() {
    return this.#ask('commit')
  }

  async close(): Promise<void> {
    const closing = this.#ask('close')
    this.#isClosed = true
    const noMoreStarts = this.#starts.close()
    await closing.catch((error: unknown) => {
      this.#warn(error, 'the archive ended before it was closed')
    })
    await noMoreStarts
    const last = this.#link
    this.#link = null
    await last?.terminate()
  }

  async #ask<Method extends AskedMethod>(
    method: Method,
    ...given: Question<Method>['given']
  ): Promise<Awaited<ReturnType<StatisticsArchive[Method]>>> {
    this.#send()
    if (!this.#link) throw this.#why
    return this.#link.ask({ method, given })
  }

  /** Without a thread, samples wait for the next one. */
  #send(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#samples.length === 0 || !this.#link) return
    this.#link.send(this.#samples)
    this.#samples = []
  }

  /** Never rejects. */
  async #startThread(): Promise<void> {
    try {
      const started = await linkArchive(this.#setup)
      if (this.#isClosed) await started.terminate()
      else this.#use(started)
    } catch (error) {
      if (this.#isClosed) return
      if (error instanceof FleetError) this.#why = error
      this.#startLater(error, 'the archive cannot be started; trying on')
    }
  }

  #use(started: ArchiveLink): void {
    const startedAtMs = performance.now()
    this.#link = started
    this.#send()
    void started.ended.then((reason) => {
      this.#link = null
      if (this.#isClosed) return
      if (performance.now() - startedAtMs > restarts.longestMs) this.#shortLives = 0
      this.#why = reason
      this.#startLater(reason, 'the archive ended; it is started again')
    })
  }

  #startLater(error: unknown, message: string): void {
    this.#warn(error, message)
    this.#shortLives += 1
    this.#starts.wake(pauseAfter(this.#shortLives, restarts))
  }

  #warn(error: unknown, message: string): void {
    const reason = error instanceof Error ? error.message : String(error)
    this.#setup.events.warn({ reason }, message)
  }
}
