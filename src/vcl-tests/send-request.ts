/** Sends one request on its own connection, byte for byte as in the test, and reads the complete answer. */
import { connect, type Socket } from 'node:net'
import { findHeader } from './match-text.js'
import type { Headers, TestRequest } from '../test-files/test-file.js'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** The client port of the connection, which identifies the request in the cache's log. */
  readonly clientPort: number
}

export interface SentRequest extends TestRequest {
  readonly host: string
}

const answerLimitBytes = 8 << 20

/** Rejects with the reason why there is no answer. */
export async function sendRequest(
  port: number,
  request: SentRequest,
  signal: AbortSignal,
): Promise<Answer> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  const end = (): void => {
    socket.destroy(new Error('there was no answer in time'))
  }
  signal.addEventListener('abort', end)
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    const clientPort = socket.localPort ?? 0
    socket.write(writeRequest(request))
    return { ...(await readAnswer(socket, request.method)), clientPort }
  } finally {
    signal.removeEventListener('abort', end)
    socket.destroy()
  }
}

function writeRequest({ method, url, httpVersion, host, headers, body }: SentRequest): Buffer {
  const isSet = (name: string) => findHeader(headers, name) !== null
  const content = Buffer.from(body, 'utf8')
  const needsLength = content.length > 0 && !isSet('content-length') && !isSet('transfer-encoding')
  const lines = [
    `${method} ${url} HTTP/${httpVersion}`,
    ...(isSet('host') || host === '' ? [] : [`Host: ${host}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(needsLength ? [`Content-Length: ${content.length}`] : []),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'utf8'), content])
}

function readAnswer(socket: Socket, method: string): Promise<Omit<Answer, 'clientPort'>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const read = (isEnd: boolean): void => {
      const answer = parseAnswer(Buffer.concat(chunks), method, isEnd)
      if (answer !== null) resolve(answer)
      else if (isEnd) reject(new Error('the cache closed the connection before its answer ended'))
    }
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > answerLimitBytes)
        reject(new Error(`the answer has more than ${answerLimitBytes} bytes`))
      else read(false)
    })
    socket.once('error', reject)
    socket.once('close', () => {
      read(true)
    })
  })
}

/** Null: the answer is incomplete. `isEnd`: the connection was closed. */
export function parseAnswer(
  bytes: Buffer,
  method: string,
  isEnd: boolean,
): Omit<Answer, 'clientPort'> | null {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const [first = '', ...lines] = bytes.toString('utf8', 0, headEnd).split('\r\n')
  const status = Number(/^HTTP\/\d\.\d (\d{3})/.exec(first)?.[1] ?? 0)
  const rest = bytes.subarray(headEnd + 4)
  // Skips interim responses, except 101, which ends HTTP.
  if (status >= 100 && status < 200 && status !== 101) return parseAnswer(rest, method, isEnd)
  const headers = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  const body = readBody(rest, { status, headers, method, isEnd })
  return body === null ? null : { status, headers, body: body.toString('utf8') }
}

interface BodyForm {
  readonly status: number
  readonly headers: Headers
  readonly method: string
  readonly isEnd: boolean
}

function readBody(bytes: Buffer, { status, headers, method, isEnd }: BodyForm): Buffer | null {
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return Buffer.alloc(0)
  if (/\bchunked\b/i.test(findHeader(headers, 'transfer-encoding') ?? ''))
    return readChunks(bytes, isEnd)
  const length = findHeader(headers, 'content-length')
  if (length === null) return isEnd ? bytes : null
  return bytes.length >= Number(length) ? bytes.subarray(0, Number(length)) : null
}

/** Null: incomplete, or the connection ended before the last chunk. */
function readChunks(bytes: Buffer, isEnd: boolean): Buffer | null {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return null
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (Number.isNaN(size)) return isEnd ? Buffer.concat(chunks) : null
    const end = lineEnd + 2 + size
    if (bytes.length < end + 2) return null
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(lineEnd + 2, end))
    at = end + 2
  }
}
