/**
 * A proxy between agents and a coordinator: counts the messages of their links by kind, stops at one, delays or swallows
 * them, or reorders one. It works on the bytes of the WebSocket (RFC 6455, section 5.2), so nothing else is lost or added;
 * other HTTP calls pass unread.
 */
import { once } from 'node:events'
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { Traps, type Trap } from './trap.js'

export interface LinkProxy {
  /** For `--coordinator-url`. */
  readonly url: string
  /** Number of messages of a kind passed, in either direction, since `forget`. */
  count(kind: string): number
  forget(): void
  /** `before`: the receiver has not got the message; `after`: its bytes were passed to the receiver. */
  trap(trap: Trap): Promise<void>
  /** Delay of each message, in either direction; 0: none. */
  setDelay(delayMs: number): void
  /**
   * `swallow`: nothing arrives any more and neither side is notified, as behind a dead router; connections of that time
   * stay dead. `refuse`: connections are cut, new ones at once.
   */
  setFault(fault: LinkFault): void
  /** Sends the next message of this kind after its successor, or `twice`; resolves once it did. */
  disorder(kind: string, how: Disorder): Promise<void>
}

type LinkFault = 'none' | 'swallow' | 'refuse'
type Disorder = 'late' | 'twice'

interface TestEnd {
  teardown(stop: () => Promise<void>): unknown
}

const host = '127.0.0.1'

export async function startLinkProxy(t: TestEnd, coordinatorPort: number): Promise<LinkProxy> {
  const counts = new Map<string, number>()
  const traps = new Traps()
  const sockets = new Set<Socket>()
  const watches = new Set<Watch>()
  const disturbance: Disturbance = { delayMs: 0, fault: 'none', disorder: null }
  const server = createServer((agent) => {
    if (disturbance.fault === 'refuse') {
      agent.destroy()
      return
    }
    const coordinator = connect(coordinatorPort, host)
    const cut = (): void => {
      agent.destroy()
      coordinator.destroy()
    }
    const watch = { counts, traps, disturbance, isDead: disturbance.fault === 'swallow', cut }
    watches.add(watch)
    agent.on('close', () => watches.delete(watch))
    for (const socket of [agent, coordinator]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined) // its close follows
      socket.on('close', () => {
        sockets.delete(socket)
        if (!watch.isDead) cut() // else the other end is not notified either
      })
    }
    relay(agent, coordinator, watch)
    relay(coordinator, agent, watch)
  })
  await once(server.listen(0, host), 'listening')
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo // the form for TCP servers
  return {
    url: `ws://${host}:${port}`,
    count: (kind) => counts.get(kind) ?? 0,
    forget: () => {
      counts.clear()
    },
    trap: (trap) => traps.set(trap),
    setDelay: (delayMs) => {
      disturbance.delayMs = delayMs
    },
    setFault: (fault) => {
      disturbance.fault = fault
      if (fault === 'swallow') for (const watch of watches) watch.isDead = true
      if (fault === 'refuse') for (const socket of sockets) socket.destroy()
    },
    disorder: (kind, how) =>
      new Promise((tell) => {
        disturbance.disorder = { kind, how, tell }
      }),
  }
}

interface Disturbance {
  delayMs: number
  fault: LinkFault
  disorder: { readonly kind: string; readonly how: Disorder; readonly tell: () => void } | null
}

interface Watch {
  readonly disturbance: Disturbance
  isDead: boolean
  readonly counts: Map<string, number>
  readonly traps: Traps
  readonly cut: () => void
}

function relay(from: Socket, to: Socket, watch: Watch): void {
  const { counts, traps, disturbance, cut } = watch
  const frames = new FrameSplitter()
  const line = new Disorderly(disturbance, to)
  let turn = Promise.resolve()
  from.on('data', (chunk: Buffer) => {
    turn = turn.then(() => handle(chunk))
  })

  async function handle(chunk: Buffer): Promise<void> {
    for (const { kind, bytes } of frames.push(chunk)) {
      if ((kind && (await traps.meet(kind, 'before'))) === 'drop' || from.destroyed) {
        cut()
        return
      }
      if (disturbance.delayMs > 0)
        await new Promise((resume) => setTimeout(resume, disturbance.delayMs))
      if (watch.isDead) continue
      line.write(kind, bytes)
      if (kind === '') continue
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      if ((await traps.meet(kind, 'after')) === 'drop') {
        cut()
        return
      }
    }
  }
}

/** One direction of a connection, which can send a message late or twice. */
class Disorderly {
  readonly #disturbance: Disturbance
  readonly #to: Socket
  #late: { readonly bytes: Buffer; readonly tell: () => void } | null = null

  constructor(disturbance: Disturbance, to: Socket) {
    this.#disturbance = disturbance
    this.#to = to
  }

  write(kind: string, bytes: Buffer): void {
    const { disorder } = this.#disturbance
    if (kind !== '' && disorder?.kind === kind) {
      this.#disturbance.disorder = null
      if (disorder.how === 'late') {
        this.#late = { bytes, tell: disorder.tell }
        return
      }
      this.#to.write(bytes)
      disorder.tell()
    }
    this.#to.write(bytes)
    if (kind === '' || !this.#late) return
    this.#to.write(this.#late.bytes)
    this.#late.tell()
    this.#late = null
  }
}

interface Piece {
  /** Kind of a message; empty for anything else, which passes unread. */
  readonly kind: string
  readonly bytes: Buffer
}

/** Messages of this link are never split into several frames: they are at most 1 MiB and ws sends them whole. */
class FrameSplitter {
  #rest = Buffer.alloc(0)
  /** The state after the HTTP head, which announced WebSocket frames or not. */
  #mode: 'head' | 'frames' | 'http' = 'head'

  push(chunk: Buffer): Piece[] {
    if (this.#mode === 'http') return [{ kind: '', bytes: chunk }]
    this.#rest = Buffer.concat([this.#rest, chunk])
    const pieces: Piece[] = []
    if (this.#mode === 'head') {
      const end = this.#rest.indexOf('\r\n\r\n')
      if (end < 0) return []
      const head = this.#take(end + 4)
      this.#mode = /^upgrade: *websocket/im.test(head.toString('latin1')) ? 'frames' : 'http'
      pieces.push({ kind: '', bytes: head })
      if (this.#mode === 'http') pieces.push({ kind: '', bytes: this.#take(this.#rest.length) })
    }
    for (let frame = this.#readFrame(); frame; frame = this.#readFrame()) pieces.push(frame)
    return pieces
  }

  #readFrame(): Piece | undefined {
    if (this.#mode !== 'frames' || this.#rest.length < 2) return undefined
    const opcode = this.#rest.readUInt8(0) & 0x0f
    const second = this.#rest.readUInt8(1)
    const maskBytes = second & 0x80 ? 4 : 0
    const short = second & 0x7f
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
    const start = 2 + lengthBytes + maskBytes
    if (this.#rest.length < start) return undefined
    const length =
      lengthBytes === 0
        ? short
        : lengthBytes === 2
          ? this.#rest.readUInt16BE(2)
          : Number(this.#rest.readBigUInt64BE(2))
    if (this.#rest.length < start + length) return undefined
    const bytes = this.#take(start + length)
    return { kind: opcode === 1 ? readKind(unmask(bytes, start, maskBytes)) : '', bytes }
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return taken
  }
}

function unmask(frame: Buffer, start: number, maskBytes: number): Buffer {
  const payload = Buffer.from(frame.subarray(start))
  if (maskBytes > 0)
    for (const [index, byte] of payload.entries())
      payload[index] = byte ^ frame.readUInt8(start - 4 + (index % 4))
  return payload
}

function readKind(payload: Buffer): string {
  const message: unknown = JSON.parse(payload.toString('utf8'))
  return typeof message === 'object' && message !== null && 'kind' in message
    ? String(message.kind)
    : ''
}
