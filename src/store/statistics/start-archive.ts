/** Starts the thread of the archive, and is its end in the coordinator: samples go over in batches, questions one by one. */
import { Worker } from 'node:worker_threads'
import { FleetError } from '../../errors.js'
import type { ArchiveOptions } from './local-archive.js'
import { createSamplePacker } from './sample-packer.js'
import type {
  ArchiveEvents,
  CacheSample,
  NewestAnswer,
  SeriesAnswer,
  StatisticsArchive,
} from './statistics-archive.js'
import type { ArchiveOrder, FromArchive, Question, ToArchive } from './thread-messages.js'

export interface ArchiveSetup {
  readonly url: string
  readonly options: ArchiveOptions
  readonly events: ArchiveEvents
  /** The program of the thread, where it is not the built one beside this file. */
  readonly thread?: URL
}

/** Chosen by us: samples of a fleet come spread over their interval, and go over together. */
const batchMs = 1000
/** Chosen by us: what may come in that time; what is more is lost. */
const waitingMost = 100_000

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Rejects with FleetError 'unavailable' when the archive cannot be opened. */
export async function startArchive(setup: ArchiveSetup): Promise<StatisticsArchive> {
  const { url, options, events } = setup
  const order: ArchiveOrder = { url, options }
  const worker = new Worker(setup.thread ?? new URL('./archive-thread.js', import.meta.url), {
    workerData: order,
  })
  const waiting = new Map<number, Waiting>()
  const packer = createSamplePacker()
  let samples: CacheSample[] = []
  let asked = 0
  let timer: NodeJS.Timeout | null = null
  let ended: FleetError | null = null
  let isClosing = false
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      end('its thread ended')
      resolve()
    })
  })
  worker.on('message', hear)
  await new Promise<void>((resolve, reject) => {
    waiting.set(asked, {
      resolve: () => {
        resolve()
      },
      reject,
    })
    worker.on('error', (error) => {
      end(error.message)
    })
  })

  return {
    record: (sample) => {
      if (ended || samples.length >= waitingMost) return
      samples.push(sample)
      timer ??= setTimeout(send, batchMs)
    },
    release: (agentId) => {
      send()
      tell({ kind: 'release', agentId })
    },
    // The thread answers what these questions are answered with.
    readSeries: async (query) => (await ask({ kind: 'series', query })) as SeriesAnswer,
    readNewest: async (query) => (await ask({ kind: 'newest', query })) as NewestAnswer,
    retain: async (agentIds) => (await ask({ kind: 'retain', agentIds })) as number,
    commit: async () => {
      await ask({ kind: 'commit' })
    },
    close: async () => {
      isClosing = true
      await ask({ kind: 'close' }).catch((error: unknown) => {
        warn(error)
      })
      await worker.terminate()
      await exited
    },
  }

  function ask(question: Question): Promise<unknown> {
    if (ended) return Promise.reject(ended)
    send()
    const id = ++asked
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      tell({ kind: 'ask', id, question })
    })
  }

  function send(): void {
    if (timer) clearTimeout(timer)
    timer = null
    if (samples.length === 0 || ended) return
    const batch = packer.pack(samples)
    samples = []
    const buffers = [batch.heads.buffer, batch.values.buffer]
    worker.postMessage({ kind: 'record', batch } satisfies ToArchive, buffers)
  }

  function tell(message: ToArchive): void {
    if (!ended) worker.postMessage(message)
  }

  function hear(message: FromArchive): void {
    switch (message.kind) {
      case 'ready':
        take(0)?.resolve(undefined)
        return
      case 'answer':
        take(message.id)?.resolve(message.value)
        return
      case 'failure': {
        const { retryAfterSeconds, message: text } = message.failure
        const error =
          retryAfterSeconds === null
            ? new Error(`in the archive's thread: ${text}`)
            : new FleetError('unavailable', 'store', text, { retryAfterSeconds })
        take(message.id)?.reject(error)
        return
      }
      case 'wrote':
        events.wrote(message.seconds, message.rows)
        return
      case 'warn':
        events.warn(message.fields, message.message)
        return
    }
  }

  function take(id: number): Waiting | undefined {
    const found = waiting.get(id)
    waiting.delete(id)
    return found
  }

  function end(reason: string): void {
    if (ended) return
    ended = new FleetError('unavailable', 'store', `there are no statistics: ${reason}`)
    if (!isClosing) warn(ended)
    for (const { reject } of waiting.values()) reject(ended)
    waiting.clear()
  }

  function warn(error: unknown): void {
    events.warn(
      { reason: error instanceof Error ? error.message : String(error) },
      'the archive ended',
    )
  }
}
