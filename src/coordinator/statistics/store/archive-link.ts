/** One thread of the archive, as long as it lives: samples go over in batches, questions one by one. */
import { Worker } from 'node:worker_threads'
import { FleetError } from '../../../errors.js'
import type { ArchiveOptions } from './local-archive.js'
import { createSamplePacker } from './sample-packer.js'
import type { ArchiveEvents, CacheSample, StatisticsArchive } from './statistics-archive.js'
import type {
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
  /** The program of the thread, where it is not the built one beside this file. */
  readonly thread?: URL
}

export interface ArchiveLink {
  send(samples: readonly CacheSample[]): void
  release(agentId: number): void
  /** Rejects with FleetError 'unavailable' when the thread ends before it answers. */
  ask<Method extends AskedMethod>(
    question: Question<Method>,
  ): Promise<Awaited<ReturnType<StatisticsArchive[Method]>>>
  /** Resolves, never rejects, with why nothing is answered any more. */
  readonly ended: Promise<FleetError>
  /** Resolves when the thread is gone. */
  terminate(): Promise<void>
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

const retryAfterSeconds = 5

/** Rejects with FleetError 'unavailable' when the archive cannot be opened. */
export async function linkArchive(setup: ArchiveSetup): Promise<ArchiveLink> {
  const { url, options, events } = setup
  const order: ArchiveOrder = { url, options }
  const worker = new Worker(setup.thread ?? new URL('./archive-thread.js', import.meta.url), {
    workerData: order,
  })
  const waiting = new Map<number, Waiting>()
  const packer = createSamplePacker()
  let asked = 0
  let why: FleetError | null = null
  let tellEnded: (why: FleetError) => void = () => undefined
  const ended = new Promise<FleetError>((resolve) => (tellEnded = resolve))
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      end('its thread ended')
      resolve()
    })
  })
  worker.on('error', (error) => {
    end(error.message)
  })
  worker.on('message', hear)
  await new Promise<void>((resolve, reject) => {
    const ready = (): void => {
      resolve()
    }
    waiting.set(asked, { resolve: ready, reject })
  })

  return {
    send: (samples) => {
      if (why) return
      const batch = packer.pack(samples)
      const buffers = [batch.heads.buffer, batch.values.buffer]
      worker.postMessage({ kind: 'record', batch } satisfies ToArchive, buffers)
    },
    release: (agentId) => {
      tell({ kind: 'release', agentId })
    },
    ask: (question) => {
      if (why) return Promise.reject(why)
      const id = ++asked
      return new Promise((resolve, reject) => {
        // The thread answers what its archive answered.
        waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
        tell({ kind: 'ask', id, question })
      })
    },
    ended,
    terminate: async () => {
      await worker.terminate()
      await exited
    },
  }

  function tell(message: ToArchive): void {
    if (!why) worker.postMessage(message)
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
    if (why) return
    why = noStatistics(reason)
    for (const { reject } of waiting.values()) reject(why)
    waiting.clear()
    tellEnded(why)
  }
}

export function noStatistics(reason: string): FleetError {
  const message = `there are no statistics: ${reason}`
  return new FleetError('unavailable', 'store', message, { retryAfterSeconds })
}
