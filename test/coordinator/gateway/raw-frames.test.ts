/** Frames that no WebSocket library sends, and messages that no agent sends: each ends only its own link. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { eventually } from '../../support/eventually.js'
import { describe, link, runningCondition, startGateway, type GatewayServer } from './link-agent.js'
import { makeToken, startService } from './service.js'

const opcodes = { more: 0, text: 1, binary: 2, reserved: 3, close: 8, ping: 9, reservedControl: 11 }
const mask = Buffer.from([1, 2, 3, 4])

interface Shape {
  readonly isLast?: boolean
  readonly reservedBits?: number
  readonly isMasked?: boolean
  /** The announced length, independent of the content. */
  readonly length?: bigint
}

/** RFC 6455, 5.2. */
function writeFrame(opcode: number, content: Buffer | string, shape: Shape = {}): Buffer {
  const { isLast = true, reservedBits = 0, isMasked = true } = shape
  const bytes = Buffer.from(content)
  const head = Buffer.alloc(10)
  head[0] = (isLast ? 0x80 : 0) | (reservedBits << 4) | opcode
  head[1] = (isMasked ? 0x80 : 0) | 127
  head.writeBigUInt64BE(shape.length ?? BigInt(bytes.length), 2)
  if (!isMasked) return Buffer.concat([head, bytes])
  return Buffer.concat([head, mask, bytes.map((byte, at) => byte ^ (mask[at % 4] ?? 0))])
}

/** A control frame has its length in seven bits. */
function writeControl(opcode: number, content: readonly number[], isLast = true): Buffer {
  const head = Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | content.length])
  return Buffer.concat([
    head,
    mask,
    Buffer.from(content.map((byte, at) => byte ^ (mask[at % 4] ?? 0))),
  ])
}

const envelope = { sequence: 1, traceId: 'trace-of-the-agent' }
const hello = JSON.stringify({ kind: 'hello', ...describe('another', 'key'), ...envelope })
const heartbeat = JSON.stringify({ kind: 'heartbeat', condition: runningCondition, ...envelope })
const deep = `{"kind":"hello","more":${'['.repeat(400_000)}${']'.repeat(400_000)}}`
const { more, text, binary, reserved, close, ping, reservedControl } = opcodes

/** The bytes sent after the upgrade, and the code of the close frame that answers them. */
const attacks: Readonly<Record<string, readonly [code: number, bytes: Buffer]>> = {
  'without a mask': [1002, writeFrame(text, hello, { isMasked: false })],
  'with reserved bits': [1002, writeFrame(text, hello, { reservedBits: 4 })],
  'of a reserved kind': [1002, writeFrame(reserved, hello)],
  'of a reserved control kind': [1002, writeControl(reservedControl, [])],
  'of 2^63 - 1 bytes': [1009, writeFrame(text, '', { length: 2n ** 63n - 1n })],
  'of 2^64 - 1 bytes': [1009, writeFrame(text, '', { length: 2n ** 64n - 1n })],
  'of a byte over 1 MiB': [1009, writeFrame(text, 'x', { length: 2n ** 20n + 1n })],
  'that goes on with nothing': [1002, writeFrame(more, hello)],
  'that is not UTF-8': [1007, writeFrame(text, Buffer.from([0xff, 0xfe]))],
  'that is binary': [1002, writeFrame(binary, hello)],
  'that is a ping in parts': [1002, writeControl(ping, [1], false)],
  'that is a ping of 1000 bytes': [1002, writeFrame(ping, 'x'.repeat(1000))],
  'that closes with half a code': [1002, writeControl(close, [3])],
  'that closes with code 999': [1002, writeControl(close, [3, 231])],
  'that is nonsense': [1002, Buffer.alloc(70_000, 0xaa)],
  'that is empty': [1002, writeFrame(text, '')],
  'that is 400,000 deep': [1002, writeFrame(text, deep)],
  'of kind __proto__': [1002, writeFrame(text, JSON.stringify({ kind: '__proto__', ...envelope }))],
  'of kind constructor': [
    1002,
    writeFrame(text, JSON.stringify({ kind: 'constructor', ...envelope })),
  ],
  'that is not a hello': [1002, writeFrame(text, heartbeat)],
  'in 2,000 parts': [
    1008,
    Buffer.concat(
      Array.from({ length: 2_000 }, (_, at) => writeFrame(at ? more : text, '', { isLast: false })),
    ),
  ],
}

void t.test('an invalid frame ends only its own link', async (t) => {
  const service = await startService(t)
  const gateway = await startGateway(t, service)
  const token = await makeToken(service)
  const key = 'key-of-honest-0123456789abcdef'
  const honest = await link(gateway.host, describe('honest', key), { token, key })

  const codes = await Promise.all(
    Object.values(attacks).map(async ([, bytes], at) => attack(t, gateway, { token, at, bytes })),
  )

  for (const [at, [name, [code]]] of Object.entries(attacks).entries())
    t.equal(codes[at], code, name)
  t.equal(honest.closed(), null)
  t.equal(gateway.gateway.sessionCount, 1)
  t.same(service.warnings, [])
  const count = promisify(gateway.server.getConnections.bind(gateway.server))
  await eventually('their connections are gone', async () => (await count()) === 1)
})

void t.test('an incomplete hello ends the link at the timeout', async (t) => {
  const service = await startService(t)
  const gateway = await startGateway(t, service, { helloTimeoutMs: 100 })
  const bytes = writeFrame(text, hello).subarray(0, 40)
  t.equal(await attack(t, gateway, { token: await makeToken(service), at: 0, bytes }), 1002)
})

/** Returns the code of the close frame. */
async function attack(
  t: Test,
  { host }: GatewayServer,
  { token, at, bytes }: { readonly token: string; readonly at: number; readonly bytes: Buffer },
): Promise<number | undefined> {
  const [address = '', port] = host.split(':')
  const socket = connect(Number(port), address)
  t.teardown(() => socket.destroy())
  let heard = Buffer.alloc(0)
  socket.on('data', (piece) => (heard = Buffer.concat([heard, piece])))
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const headers = [
    ...['Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
    ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', `Authorization: Join ${token}`],
    ...['Sec-WebSocket-Protocol: cachefleet.agent.v1', `X-Cachefleet-Name: raw-${at}`],
  ]
  socket.write(`GET /agent/v1 HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  await eventually('the connection is upgraded', () => heard.includes('\r\n\r\n'))
  socket.write(bytes)
  await eventually('the connection is closed', () => socket.closed || socket.readableEnded)
  const frame = heard.subarray(heard.indexOf('\r\n\r\n') + 4)
  return frame[0] === (0x80 | close) ? frame.readUInt16BE(2) : undefined
}
