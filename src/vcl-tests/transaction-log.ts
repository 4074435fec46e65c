/** Reads the log of a private cache with the cache's log tool: all records of a request, once it and all its fetches have ended. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { startDeadline } from '../runtime/deadline.js'
import { LogChild, type LogTool } from '../agent/log/log-child.js'
import { findText, RecordGroups, type RecordGroup } from '../traffic/record-groups.js'
import { recordTags } from '../traffic/log-records.js'

/** In addition to the tags of the live log. */
const moreTags = [
  ...['VCL_Log', 'VCL_Error', 'VCL_acl', 'ReqUnset', 'RespUnset', 'RespProtocol'],
  ...['BereqMethod', 'BereqURL', 'BereqHeader', 'BereqUnset', 'BerespUnset', 'BackendClose'],
]
const attachPauseMs = 100
/** The limit for requests that nothing has asked for. */
const groupsKept = 100

export class TransactionLog {
  readonly #child: LogChild
  readonly #groups = new Map<number, RecordGroup>()
  #onChange: () => void = () => undefined
  #ended: string | null = null
  #isAttached = false

  constructor(tool: LogTool) {
    const groups = new RecordGroups((group) => {
      this.#take(group)
    })
    this.#child = new LogChild({
      tool,
      run: {
        format: null,
        query: null,
        fetches: false,
        bound: null,
        tags: [recordTags, ...moreTags],
      },
      onLine: (line) => {
        groups.read(line)
      },
      onEnd: (why) => {
        this.#ended = why
        this.#onChange()
      },
    })
    process.once('exit', this.#kill)
  }

  /** When its cache is gone, the tool waits for another one: it would outlive this process. */
  readonly #kill = (): void => {
    this.#child.kill()
  }

  /**
   * Waits until the tool reads: it starts with the next log record. A malformed request is answered 400 and logged without
   * running VCL.
   */
  async attach(port: number, signal: AbortSignal): Promise<void> {
    while (!this.#isAttached && !signal.aborted && this.#ended === null) {
      await sendMalformed(port)
      const pause = startDeadline(attachPauseMs, signal)
      await this.#change(pause.signal)
      pause.stop()
    }
  }

  /** The records of the request from this client port. Rejects with the reason if there are none. */
  async find(clientPort: number, signal: AbortSignal): Promise<RecordGroup> {
    for (;;) {
      const group = this.#groups.get(clientPort)
      this.#groups.delete(clientPort)
      if (group) return group
      if (this.#ended !== null) throw new Error(`the log of the cache ended: ${this.#ended}`)
      if (signal.aborted) throw new Error('the cache did not finish the request in time')
      await this.#change(signal)
    }
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end)
        resolve()
      }
      this.#onChange = end
      signal.addEventListener('abort', end)
    })
  }

  stop(): Promise<void> {
    process.off('exit', this.#kill)
    return this.#child.stop()
  }

  #take(group: RecordGroup): void {
    this.#isAttached = true
    const [first] = group.parts
    const port = first === undefined ? undefined : findText(first, 'ReqStart', 1)
    if (port !== undefined) this.#groups.set(Number(port), group)
    const [oldest] = this.#groups.keys()
    if (this.#groups.size > groupsKept && oldest !== undefined) this.#groups.delete(oldest)
    this.#onChange()
  }
}

async function sendMalformed(port: number): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port })
  const ended = once(socket, 'close')
  socket.resume().end('no request\r\n\r\n')
  await ended
}
