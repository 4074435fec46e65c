/**
 * A proxy between an agent and a cache's management port: records every command that passes, stops at one, or plays a
 * port that closes, hangs or talks nonsense. Bytes pass unchanged.
 */
import { once } from 'node:events'
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { Traps, type Trap } from './trap.js'

/** `none`: commands and replies pass. With the others nothing reaches the cache. */
type PortFault = 'none' | 'close' | 'hang' | 'garbage'

export interface ManagementProxy {
  readonly host: string
  readonly port: number
  /** Lines that reached the cache since `forget`, in order; without the text of here-documents. */
  readonly commands: readonly string[]
  /** The lines of `commands` that change something. */
  changes(): string[]
  forget(): void
  /** `before`: the cache has not got the command; `after`: it has replied, and the agent has not got the reply. */
  trap(trap: Trap): Promise<void>
  /** For new connections; existing ones are cut. */
  setFault(fault: PortFault): void
}

interface TestEnd {
  teardown(stop: () => Promise<void>): unknown
}

const changing =
  /^-?"?(vcl\.(inline|load|use|label|discard|state)|param\.(set|reset)|ban|backend\.set_health|panic\.clear|stop|start)\b(?!\.)/
const host = '127.0.0.1'

export async function startManagementProxy(
  t: TestEnd,
  target: { readonly host: string; readonly port: number },
): Promise<ManagementProxy> {
  const commands: string[] = []
  const traps = new Traps()
  const sockets = new Set<Socket>()
  let fault: PortFault = 'none'
  const server = createServer((agent) => {
    sockets.add(agent)
    agent.on('close', () => sockets.delete(agent))
    agent.on('error', () => undefined) // its close follows
    if (fault === 'none') passOn(agent, connect(target.port, target.host), { commands, traps })
    else misbehave(agent, fault)
  })
  await once(server.listen(0, host), 'listening')
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(async () => {
    cut()
    server.close()
    await once(server, 'close')
  })
  return {
    host,
    port: (server.address() as AddressInfo).port, // the form for TCP servers
    commands,
    changes: () => commands.filter((line) => changing.test(line)),
    forget: () => {
      commands.length = 0
    },
    trap: (trap) => traps.set(trap),
    setFault: (next) => {
      fault = next
      cut()
    },
  }
}

function misbehave(agent: Socket, fault: Exclude<PortFault, 'none'>): void {
  agent.resume()
  if (fault === 'close') agent.destroy()
  else if (fault === 'garbage') agent.end('SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n')
}

interface Watch {
  readonly commands: string[]
  readonly traps: Traps
}

function passOn(agent: Socket, cache: Socket, { commands, traps }: Watch): void {
  /** Names of commands without a reply yet; the greeting is not a reply to a command. */
  const awaited = ['greeting']
  const cut = (): void => {
    agent.destroy()
    cache.destroy()
  }
  cache.on('error', () => undefined) // its close follows
  agent.on('close', cut)
  cache.on('close', cut)
  const requests = new CommandSplitter()
  relay(agent, async (chunk) => {
    for (const { line, bytes } of requests.push(chunk)) {
      const name = nameOf(line)
      const fate = line === '' ? 'pass' : await traps.meet(name, 'before')
      if (fate === 'drop' || agent.destroyed) {
        cut()
        return
      }
      if (line !== '') {
        commands.push(line)
        awaited.push(name)
      }
      cache.write(bytes)
    }
  })
  const replies = new ReplySplitter()
  relay(cache, async (chunk) => {
    for (const bytes of replies.push(chunk)) {
      if ((await traps.meet(awaited.shift() ?? '', 'after')) === 'drop') {
        cut()
        return
      }
      agent.write(bytes)
    }
  })
}

/** Handles chunks one after the other; a trap holds up the following ones. */
function relay(socket: Socket, handle: (chunk: Buffer) => Promise<void>): void {
  let turn = Promise.resolve()
  socket.on('data', (chunk: Buffer) => {
    turn = turn.then(() => handle(chunk))
  })
}

function nameOf(line: string): string {
  return /^-?"?([a-z_.]+)/.exec(line)?.[1] ?? ''
}

/** Splits bytes into complete commands, a here-document with its text. */
class CommandSplitter {
  #rest = Buffer.alloc(0)

  push(chunk: Buffer): { readonly line: string; readonly bytes: Buffer }[] {
    this.#rest = Buffer.concat([this.#rest, chunk])
    const commands = []
    for (;;) {
      const lineEnd = this.#rest.indexOf('\n')
      if (lineEnd < 0) return commands
      const line = this.#rest.toString('utf8', 0, lineEnd)
      const token = / << (\S+)$/.exec(line)?.[1]
      const end = token === undefined ? lineEnd : findAfter(this.#rest, `\n${token}\n`, lineEnd) // its last line feed
      if (end < 0) return commands
      const bytes = this.#rest.subarray(0, end + 1)
      this.#rest = this.#rest.subarray(end + 1)
      commands.push({ line: line.replace(/ << \S+$/, ''), bytes })
    }
  }
}

function findAfter(bytes: Buffer, text: string, from: number): number {
  const start = bytes.indexOf(text, from)
  return start < 0 ? -1 : start + text.length - 1
}

/** 13 bytes of header, the body, one line feed (vcli_proto.c VCLI_WriteResult). */
class ReplySplitter {
  #rest = Buffer.alloc(0)

  push(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk])
    const replies: Buffer[] = []
    for (;;) {
      if (this.#rest.length < 13) return replies
      const end = 13 + Number(this.#rest.toString('latin1', 4, 12)) + 1
      if (this.#rest.length < end) return replies
      replies.push(this.#rest.subarray(0, end))
      this.#rest = this.#rest.subarray(end)
    }
  }
}
