/** The connection to one archive thread while it runs: samples are sent in batches, questions one by one. */
import { Worker } from 'node:worker_threads'
import { FleetError } from '../../../errors.js'
import type { ArchiveOptions } from './local-archive.js'
import { createSamplePacker } from './sample-packer.js'
import type { ArchiveEvents, CacheSample, StatisticsArchive } from './statistics-archive.js'
import type {
  ArchiveFailure,
  ArchiveOrder,
  AskedMethod,
  FromArchive,
  Question,
  ToArchive,
} from './thread-messages.js'

export interface ArchiveSetup {
  readonly url: string
  readonly options: ArchiveOptions
  readonly events: ArchiveEvents
  /** The thread's program; default: the built one next to this file. */
  readonly thread?: URL
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

const retryAfterSeconds = 5
/** The id under which the thread's ready message is awaited; questions have the ids after it. */
const readyId = 0

/** Sample buffers are outside the heap: they are freed only when the young generation fills up. */
const youngMegabytes = 6

/** Rejects with FleetError 'unavailable' if the archive cannot be opened. */
export async function linkArchive(setup: ArchiveSetup): Promise<ArchiveLink> {
  const link = new ArchiveLink(setup)
  await link.ready
  return link
}

export class ArchiveLink {
  readonly ready: Promise<unknown>
  /** Resolves with the reason when the thread has ended. Never rejects. */
  readonly ended: Promise<FleetError>
  readonly #events: ArchiveEvents
  readonly #worker: Worker
  readonly #exited: Promise<void>
  readonly #packer = createSamplePacker()
  readonly #waiting = new Map<number, Waiting>()
  #asked = 0
  #why: FleetError | null = null
  #resolveEnded: (why: FleetError) => void = () => undefined

  constructor({ url, options, events, thread }: ArchiveSetup) {
    const order: ArchiveOrder = { url, options }
    this.#events = events
    this.#worker = new Worker(thread ?? new URL('./archive-thread.js', import.meta.url), {
      workerData: order,
      resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
    })
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve))
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#end('its thread ended')
        resolve()
      })
    })
    this.#worker.on('error', (error) => {
      this.#end(error.message)
    })
    this.#worker.on('message', (message: FromArchive) => {
      this.#receive(message)
    })
    this.ready = this.#waitFor(readyId)
  }

  send(samples: readonly CacheSample[]): void {
    if (this.#why) return
    const batch = this.#packer.pack(samples)
    const buffers = [batch.heads.buffer, batch.values.buffer]
    this.#worker.postMessage({ kind: 'record', batch } satisfies ToArchive, buffers)
  }

  release(agentId: number): void {
    this.#post({ kind: 'release', agentId })
  }

  /** Rejects with FleetError 'unavailable' if the thread ends before it answers. */
  ask<Method extends AskedMethod>(
    question: Question<Method>,
  ): Promise<Awaited<ReturnType<StatisticsArchive[Method]>>> {
    if (this.#why) return Promise.reject(this.#why)
    this.#asked += 1
    const id = readyId + this.#asked
    this.#post({ kind: 'ask', id, question })
    // The thread returns its archive's result unchanged.
    return this.#waitFor(id) as Promise<Awaited<ReturnType<StatisticsArchive[Method]>>>
  }

  /** Resolves when the thread has exited. */
  async terminate(): Promise<void> {
    await this.#worker.terminate()
    await this.#exited
  }

  #post(message: ToArchive): void {
    if (!this.#why) this.#worker.postMessage(message)
  }

  #waitFor(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
    })
  }

  #receive(message: FromArchive): void {
    switch (message.kind) {
      case 'ready':
        this.#take(readyId)?.resolve(undefined)
        return
      case 'answer':
        this.#take(message.id)?.resolve(message.value)
        return
      case 'failure':
        this.#take(message.id)?.reject(toError(message.failure))
        return
      case 'wrote':
        this.#events.wrote(message.seconds, message.rows)
        return
      case 'warn':
        this.#events.warn(message.fields, message.message)
        return
    }
  }

  #take(id: number): Waiting | undefined {
    const found = this.#waiting.get(id)
    this.#waiting.delete(id)
    return found
  }

  #end(reason: string): void {
    if (this.#why) return
    this.#why = noStatistics(reason)
    for (const { reject } of this.#waiting.values()) reject(this.#why)
    this.#waiting.clear()
    this.#resolveEnded(this.#why)
  }
}

function toError({ retryAfterSeconds, message }: ArchiveFailure): Error {
  return retryAfterSeconds === null
    ? new Error(`in the archive's thread: ${message}`)
    : new FleetError('unavailable', 'store', message, { retryAfterSeconds })
}

export function noStatistics(reason: string): FleetError {
  const message = `there are no statistics: ${reason}`
  return new FleetError('unavailable', 'store', message, { retryAfterSeconds })
}
