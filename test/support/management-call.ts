/**
 * One command on a cache's management port, over its own connection. Tests query caches hundreds of times: starting the release's
 * own client for each query takes ten times as long. It shares nothing with `protocol/`, which it observes.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { waitLimitMs } from './eventually.js'

interface ManagementPort {
  readonly host: string
  readonly port: number
  readonly secretFile: string
}

/** `STATUS LENGTH` and a line break, then that many bytes and another line break. */
const headBytes = 13
const challengeBytes = 32
const status = { authenticationNeeded: 107, ok: 200 } as const

/** Returns the cache's reply; throws it unless its status is 200. The words are sent unchanged, with spaces between. */
export async function callManagement(
  { host, port, secretFile }: ManagementPort,
  ...words: readonly string[]
): Promise<string> {
  const secret = await readFile(secretFile)
  const command = words.join(' ')
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    let isSent = false
    const socket = connect(port, host)
    const answer = (code: number, body: Buffer): void => {
      if (code === status.authenticationNeeded && !isSent)
        socket.write(`auth ${digest(body.subarray(0, challengeBytes), secret)}\n`)
      else if (code === status.ok && !isSent) {
        isSent = true
        socket.write(`${command}\n`)
      } else {
        if (code === status.ok) resolve(body.toString())
        else reject(new Error(`${command}: ${code} ${body.toString()}`))
        socket.destroy()
      }
    }
    socket
      .setNoDelay()
      .setTimeout(waitLimitMs, () => socket.destroy(new Error(`${command}: no answer`)))
      .on('data', (piece: Buffer) => {
        received = Buffer.concat([received, piece])
        const head = received.subarray(0, headBytes).toString()
        const end = headBytes + Number(head.slice(4))
        if (received.length < headBytes || received.length <= end) return
        const body = received.subarray(headBytes, end)
        received = received.subarray(end + 1)
        answer(Number(head.slice(0, 3)), body)
      })
      .on('error', reject)
      .on('close', () => {
        reject(new Error(`${command}: the connection was closed`))
      })
  })
}

function digest(challenge: Buffer, secret: Buffer): string {
  return createHash('sha256')
    .update(challenge)
    .update('\n')
    .update(secret)
    .update(challenge)
    .update('\n')
    .digest('hex')
}
