/** The archive's thread: folding and writing do not slow down the coordinator's API (docs/behaviour.md, Statistics). */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { FleetError } from '../../../errors.js'
import { LocalArchive, type NumberedSample } from './local-archive.js'
import { openRows } from './open-rows.js'
import {
  headLength,
  type ArchiveOrder,
  type AskedMethod,
  type FromArchive,
  type Question,
  type SampleBatch,
  type ToArchive,
} from './thread-messages.js'

if (parentPort) await serve(parentPort, workerData as ArchiveOrder) // set by startArchive

async function serve(port: MessagePort, { url, options }: ArchiveOrder): Promise<void> {
  const post = (message: FromArchive): void => {
    port.postMessage(message)
  }
  const archive = new LocalArchive(await openRows(url), options, {
    wrote: (seconds, rows) => {
      post({ kind: 'wrote', seconds, rows })
    },
    warn: (fields, message) => {
      post({ kind: 'warn', fields, message })
    },
  })
  const methods: Readonly<Record<AskedMethod, (...given: never[]) => Promise<unknown>>> = archive
  let names: (readonly string[])[] = []
  port.on('message', (message: ToArchive) => {
    if (message.kind === 'record') {
      names = [...(message.batch.isAnew ? [] : names), ...message.batch.names]
      archive.recordAll(unpack(message.batch, names))
    } else if (message.kind === 'release') archive.release(message.agentId)
    else void reply(message.id, message.question) // never rejects
  })
  post({ kind: 'ready' })

  async function reply(id: number, question: Question): Promise<void> {
    try {
      const { method, given } = question
      const value = await methods[method](...(given as never[])) // the parameters of this method
      post({ kind: 'answer', id, value })
      if (method === 'close') port.close()
    } catch (error) {
      const retryAfterSeconds = error instanceof FleetError ? (error.retryAfterSeconds ?? 10) : null
      const message = error instanceof Error ? error.message : String(error)
      post({ kind: 'failure', id, failure: { message, retryAfterSeconds } })
    }
  }
}

function unpack(
  { heads, values }: SampleBatch,
  known: readonly (readonly string[])[],
): readonly NumberedSample[] {
  const samples: NumberedSample[] = []
  let start = 0
  for (let head = 0; head < heads.length; head += headLength) {
    const [agentId = 0, owner = 0, at = 0, span = 0, number = 0] = heads.subarray(
      head,
      head + headLength,
    )
    const names = known[number] ?? []
    const organizationId = Number.isNaN(owner) ? null : owner
    const spanMs = Number.isNaN(span) ? null : span
    const own = values.subarray(start, start + names.length)
    samples.push({ agentId, organizationId, at, spanMs, names, values: own })
    start += names.length
  }
  return samples
}
