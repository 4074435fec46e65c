/** `login --oidc`: a browser logs in at the organization's identity provider and passes a one-time code to this process. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { checkAnswer, sendRequest, type Server } from './api.js'
import { nameOf, requireFields } from './api-shapes.js'
import { CliError, exitCodes, usageError } from './cli-error.js'
import { callHttp } from './http-call.js'
import { readTokens } from './session-credentials.js'
import type { Session } from './session-file.js'
import { isSet, textFlag, type Invocation } from './verb.js'

/** The same time as the coordinator waits for the provider. */
const waitMs = 10 * 60 * 1000
/** Time limit of the check that the organization has a provider. */
const checkTimeoutMs = 20_000

/** Rejects with CliError, also if the login is not completed in time. */
export async function loginByProvider(invocation: Invocation, server: Server): Promise<Session> {
  const organization = readOrganization(invocation)
  const { report } = invocation.settings
  const waiting = await awaitCode()
  try {
    const place = `${server.url}/api/v1/auth/oidc/${encodeURIComponent(organization)}`
    const start = `${place}?return=${encodeURIComponent(waiting.url)}`
    await checkStart(server, start)
    invocation.system.stderr.write(
      `Open this address in a browser on this machine:\n\n  ${start}\n\n`,
    )
    const code = await waiting.code
    const exchange = { method: 'POST', path: '/auth/oidc/token', body: { code } } as const
    const tokens = readTokens(
      checkAnswer(await sendRequest(server, exchange, null, report), server).body,
    )
    const who = { method: 'GET', path: '/auth/whoami' } as const
    const answer = await sendRequest(server, who, `Bearer ${tokens.accessToken}`, report)
    const { account } = requireFields(checkAnswer(answer, server).body)
    return { server: server.url, account: nameOf(account) ?? '', organization, ...tokens }
  } finally {
    waiting.close()
  }
}

function readOrganization(invocation: Invocation): string {
  const organization = textFlag(invocation, 'org')
  if (organization === undefined || organization === '')
    throw usageError('--oidc needs --org ORGANIZATION: each has its own identity provider')
  for (const name of ['user', 'password-file'])
    if (textFlag(invocation, name) !== undefined)
      throw usageError(`--oidc and --${name} exclude each other`)
  if (isSet(invocation, 'password-stdin'))
    throw usageError('--oidc and --password-stdin exclude each other')
  return organization
}

/** Reports errors here rather than only in the browser, which may never be opened. */
async function checkStart(server: Server, start: string): Promise<void> {
  const url = new URL(start)
  const headers = { accept: 'application/json' }
  const { ca, traceId } = server
  const timeoutMs = checkTimeoutMs
  const answer = await callHttp({ method: 'GET', url, headers, timeoutMs, ca, traceId })
  if (answer.status < 300 || answer.status >= 400) checkAnswer(answer, server)
}

interface Waiting {
  /** Address to which the browser is redirected; its path is random and secret. */
  readonly url: string
  readonly code: Promise<string>
  close(): void
}

async function awaitCode(): Promise<Waiting> {
  const path = `/${randomBytes(16).toString('base64url')}`
  const server = createServer()
  const code = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new CliError(exitCodes.denied, 'Nobody logged in within 10 minutes'))
    }, waitMs)
    server.once('close', () => {
      clearTimeout(timer)
    })
    server.on('request', (request, response) => {
      const found = readCode(request, path)
      answerBrowser(response, found !== undefined)
      if (found !== undefined) resolve(found)
    })
  })
  code.catch(() => undefined) // callers that await it get the error
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // set for a TCP listener
  return {
    url: `http://127.0.0.1:${port}${path}`,
    code,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function readCode({ method, url = '' }: IncomingMessage, path: string): string | undefined {
  if (method !== 'GET' || !URL.canParse(url, 'http://127.0.0.1')) return undefined
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1')
  return pathname === path ? (searchParams.get('code') ?? undefined) : undefined
}

function answerBrowser(response: ServerResponse, isDone: boolean): void {
  const text = isDone ? 'You are logged in. This page may be closed.\n' : 'There is nothing here.\n'
  response.writeHead(isDone ? 200 : 404, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(text)
}
