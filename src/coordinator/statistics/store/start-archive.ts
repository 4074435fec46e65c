/**
 * Starts the thread of the archive, and is its end in the coordinator. A thread that cannot start, or ends by itself, is
 * followed by another: questions are refused meanwhile, samples wait, and what the dead one had not committed is a gap of some
 * seconds. A coordinator does its other work without statistics.
 */
import { FleetError } from '../../../errors.js'
import { linkArchive, noStatistics, type ArchiveLink, type ArchiveSetup } from './archive-link.js'
import type { CacheSample, StatisticsArchive } from './statistics-archive.js'
import type { AskedMethod, Question } from './thread-messages.js'
import { pauseAfter } from '../../../runtime/backoff.js'

export type { ArchiveSetup } from './archive-link.js'

/** Chosen by us: samples of a fleet come spread over their interval, and go over together. */
export const batchMs = 1000
/**
 * Chosen by us: what may come in that time, and while there is no thread; what is more is lost. A minute of 5,000 caches at
 * 10 s; so many go over in some 20 ms.
 */
const waitingMost = 30_000
/** Chosen by us: the pause before another thread doubles; one that lived for longer than the longest begins with the shortest. */
const restarts = { firstMs: 500, longestMs: 60_000 }

/** Resolves after the first attempt, however it ended. */
export async function startArchive(setup: ArchiveSetup): Promise<StatisticsArchive> {
  let samples: CacheSample[] = []
  let timer: NodeJS.Timeout | null = null
  let isClosed = false
  /** In a row. */
  let shortLives = 0
  let restart: NodeJS.Timeout | null = null
  let starting: Promise<void> = Promise.resolve()
  let why = noStatistics('the archive is closed')
  let link: ArchiveLink | null = null
  await start()

  return {
    record: (sample) => {
      if (isClosed || samples.length >= waitingMost) return
      samples.push(sample)
      timer ??= setTimeout(send, batchMs)
    },
    release: (agentId) => {
      send()
      link?.release(agentId)
    },
    readSeries: (query) => ask('readSeries', query),
    readNewest: (query) => ask('readNewest', query),
    readNewestEach: (query) => ask('readNewestEach', query),
    retain: (agentIds, nowMs) => ask('retain', agentIds, nowMs),
    commit: () => ask('commit'),
    close: async () => {
      const closing = ask('close')
      isClosed = true
      if (restart) clearTimeout(restart)
      await closing.catch((error: unknown) => {
        warn(error, 'the archive ended before it was closed')
      })
      await starting
      const last = link
      link = null
      await last?.terminate()
    },
  }

  async function ask<Method extends AskedMethod>(
    method: Method,
    ...given: Question<Method>['given']
  ): Promise<Awaited<ReturnType<StatisticsArchive[Method]>>> {
    send()
    if (!link) throw why
    return link.ask({ method, given })
  }

  /** Without a thread they wait for the next one. */
  function send(): void {
    if (timer) clearTimeout(timer)
    timer = null
    if (samples.length === 0 || !link) return
    link.send(samples)
    samples = []
  }

  function use(started: ArchiveLink): void {
    const startedAtMs = performance.now()
    link = started
    send()
    void started.ended.then((reason) => {
      link = null
      if (isClosed) return
      if (performance.now() - startedAtMs > restarts.longestMs) shortLives = 0
      why = reason
      warn(reason, 'the archive ended; it is started again')
      startLater()
    })
  }

  function startLater(): void {
    shortLives += 1
    restart = setTimeout(
      () => {
        starting = start()
      },
      pauseAfter(shortLives, restarts),
    )
  }

  /** Never rejects. */
  async function start(): Promise<void> {
    try {
      const started = await linkArchive(setup)
      if (isClosed) await started.terminate()
      else use(started)
    } catch (error) {
      if (isClosed) return
      if (error instanceof FleetError) why = error
      warn(error, 'the archive cannot be started; trying on')
      startLater()
    }
  }

  function warn(error: unknown, message: string): void {
    const reason = error instanceof Error ? error.message : String(error)
    setup.events.warn({ reason }, message)
  }
}
