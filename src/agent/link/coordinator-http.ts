/** Two HTTP calls beside the link, authenticated with the agent's key: fetching a text by its hash, sending a large answer. */
import { readFile } from 'node:fs/promises'
import { request as requestPlain } from 'node:http'
import { request as requestTls, type RequestOptions } from 'node:https'
import { agentLinkPath } from '../../messages/envelope.js'
import type { CaPin } from './ca-pin.js'
import { sizeOf } from './print-answer.js'

export interface CoordinatorAddress {
  /** `ws://` or `wss://`, as configured: the coordinator that is connected, or tried next. */
  readonly url: string
  /** File with the CA of the coordinator's certificate, read at each connection; null: the pinned CA, else the system's. */
  readonly caFile: string | null
  readonly pin?: CaPin
  /**
   * The listener of this process: no other process can answer there. Its certificate is for the names that others use, from an
   * authority that this host may not know, so it is not verified.
   */
  readonly isOwn?: boolean
  /** With several coordinators: selects the next one. */
  readonly moveOn?: () => void
}

export interface Caller {
  readonly address: CoordinatorAddress
  /** The agent's own credential. */
  readonly key: string
  /** Aborted when the agent stops. */
  readonly signal: AbortSignal
}

/** Flattened text has at most 2 MiB (docs/behaviour.md, VCL limits); the rest is for generated parts and newer coordinators. */
const sourceLimitBytes = 8 << 20
/** An error message has to fit into a log line. */
const errorLimitBytes = 4096
const callTimeoutMs = 30_000

/** Rejects when the coordinator is unreachable or refuses this agent the text. */
export async function fetchSource(caller: Caller, sha: string): Promise<string> {
  const answer = await call(caller, { method: 'GET', path: `/sources/${sha}` })
  return answer.toString('utf8')
}

/**
 * Returns chain and key of a certificate by their digest. Rejects as `fetchSource` does, and also, before any request, if they
 * would be sent unencrypted.
 */
export async function fetchCertificate(caller: Caller, sha: string): Promise<string> {
  if (!isPrivate(linkUrl(caller.address)))
    throw new Error(
      `its key is not sent over ${linkUrl(caller.address).origin}: it travels over wss:// or loopback only`,
    )
  const answer = await call(caller, { method: 'GET', path: `/certificates/${sha}` })
  return answer.toString('utf8')
}

/** Returns the coordinator's view of this agent, as JSON. */
export async function fetchOwnState(caller: Caller): Promise<string> {
  const answer = await call(caller, { method: 'GET', path: '/agents/self' })
  return answer.toString('utf8')
}

function isPrivate(url: URL): boolean {
  if (isOfTls(url)) return true
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

function isOfTls({ protocol }: URL): boolean {
  return protocol === 'wss:' || protocol === 'https:'
}

/** Sends the value of a query's answer as pieces of JSON; `instruction` is the sequence of the query. */
export async function putAnswer(
  caller: Caller,
  answer: { readonly instruction: number; readonly json: readonly Buffer[] },
): Promise<void> {
  const path = `/answers/${answer.instruction}`
  await call(caller, { method: 'PUT', path, body: answer.json })
}

/** The URL of the link: the configured address with the link's path appended. */
export function linkUrl(address: CoordinatorAddress): URL {
  const url = new URL(address.url)
  url.pathname = `${url.pathname.replace(/\/$/, '')}${agentLinkPath}`
  return url
}

/** Which CAs a connection trusts. */
export async function readTrust({
  url,
  caFile,
  isOwn,
  pin,
}: CoordinatorAddress): Promise<{ ca?: Buffer | string; rejectUnauthorized?: false }> {
  if (isOwn) return { rejectUnauthorized: false }
  if (caFile !== null) return { ca: await readFile(caFile) }
  const ca = (await pin?.find(new URL(url))) ?? null
  return ca === null ? {} : { ca }
}

interface Call {
  readonly method: 'GET' | 'PUT'
  readonly path: string
  readonly body?: readonly Buffer[]
}

async function call({ address, key, signal }: Caller, what: Call): Promise<Buffer> {
  const url = linkUrl(address)
  const isTls = isOfTls(url)
  const options: RequestOptions = {
    ...(await readTrust(address)),
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (isTls ? 443 : 80) : url.port,
    path: `${url.pathname}${what.path}`,
    method: what.method,
    signal: AbortSignal.any([signal, AbortSignal.timeout(callTimeoutMs)]),
    headers: {
      authorization: `Agent ${key}`,
      ...(what.body && {
        'content-type': 'application/json',
        'content-length': sizeOf(what.body),
      }),
    },
  }
  return new Promise((resolve, reject) => {
    const request = (isTls ? requestTls : requestPlain)(options, (response) => {
      const isDone = response.statusCode !== undefined && response.statusCode < 300
      const limitBytes = isDone ? sourceLimitBytes : errorLimitBytes
      const chunks: Buffer[] = []
      let sizeBytes = 0
      response.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length
        if (sizeBytes <= limitBytes) chunks.push(chunk)
        else if (isDone) request.destroy(new Error(`the answer is over ${limitBytes} bytes`))
      })
      response.on('error', reject)
      response.on('end', () => {
        const body = Buffer.concat(chunks)
        if (isDone) resolve(body)
        else
          reject(
            new Error(
              `${what.method} ${what.path}: ${response.statusCode ?? 'no status'} ${body.toString('utf8')}`,
            ),
          )
      })
    })
    request.on('error', reject)
    for (const piece of what.body ?? []) request.write(piece)
    request.end()
  })
}
