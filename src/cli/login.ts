/**
 * Logs in by password or identity provider, writes the session file, and logs out. The password is never stored and never taken from an
 * argument.
 */
import { checkAnswer, createApi, sendRequest, type ReportCall, type Server } from './api.js'
import { CliError, exitCodes, usageError } from './cli-error.js'
import { chooseServer } from './connection.js'
import { keepTrust, trustServer } from './trust-server.js'
import { chooseContext, writeContextInUse } from './context-in-use.js'
import { showText } from './output.js'
import { readPassword } from './password.js'
import { createSessionCredentials, readTokens } from './session-credentials.js'
import { changeSession, readSession, sessionFilePath, type Session } from './session-file.js'
import { isSet, textFlag, type Invocation } from './verb.js'

export async function login(invocation: Invocation): Promise<undefined> {
  const { settings, system } = invocation
  const file = sessionFilePath(system.environment)
  const before = await readSession(file, settings.context)
  const server = await trustServer(invocation, await chooseServer(settings, system, before))
  const session = isSet(invocation, 'oidc')
    ? await (await import('./oidc-login.js')).loginByProvider(invocation, server)
    : await loginByPassword(invocation, server)
  const { account, organization } = session
  const kept = keepTrust(session, server, system)
  await changeSession(file, settings.context, () => Promise.resolve(kept))
  warnAboutPlainConnection(server, invocation)
  const where = organization === null ? '' : ` of ${organization}`
  const { context } = settings
  showText(invocation.output, `logged in to ${server.url} as ${account}${where}`, {
    server: server.url,
    account,
    organization,
    context,
  })
  if (context !== (await chooseContext(undefined, system.environment)))
    invocation.output.notify(`\`cachefleet contexts use ${context}\` selects it`)
}

async function loginByPassword(invocation: Invocation, server: Server): Promise<Session> {
  const user = textFlag(invocation, 'user')
  if (user === undefined || user === '')
    throw usageError('--user NAME is needed, or --oidc --org ORGANIZATION')
  if (user.includes(':')) throw usageError('Names of accounts have no colon')
  const organization = textFlag(invocation, 'org') ?? null
  const password = await readPassword(invocation, `Password of ${user} at ${server.url}: `)
  return beginSession(server, { user, organization, password }, invocation.settings.report)
}

interface Person {
  readonly user: string
  readonly organization: string | null
  readonly password: string
}

export async function beginSession(
  server: Server,
  { user, organization, password }: Person,
  report: ReportCall,
): Promise<Session> {
  const request = {
    method: 'POST',
    path: '/auth/login',
    ...(organization === null ? {} : { body: { org: organization } }),
  } as const
  const basic = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const answer = await sendRequest(server, request, basic, report)
  const tokens = readTokens(checkAnswer(answer, server).body)
  return { server: server.url, account: user, organization, ...tokens }
}

/** A session that has already ended is only removed from the file. */
export async function logout(invocation: Invocation): Promise<undefined> {
  const { settings, system } = invocation
  const { context, report } = settings
  const file = sessionFilePath(system.environment)
  const session = await readSession(file, context)
  if (!session) throw new CliError(exitCodes.denied, `You are not logged in as context ${context}`)
  const server = await chooseServer({ ...settings, server: session.server }, system, session)
  const { now } = system
  const credentials = createSessionCredentials(server, { file, context }, { report, now })
  const api = createApi(server, credentials, report)
  await api.call({ method: 'POST', path: '/auth/logout' }).catch((error: unknown) => {
    const hasEnded = error instanceof CliError && error.refusal?.status === 401
    if (!hasEnded) throw error
  })
  await changeSession(file, context, () => Promise.resolve(null))
  if (context === (await chooseContext(undefined, system.environment)))
    await writeContextInUse(system.environment, null)
  const { account } = session
  showText(invocation.output, `logged out of ${server.url}`, { server: server.url, account })
}

function warnAboutPlainConnection({ url }: Server, { system }: Invocation): void {
  const { protocol, hostname } = new URL(url)
  const isLoopback = /^(127\.|localhost$|\[::1\]$)/.test(hostname)
  if (protocol === 'http:' && !isLoopback)
    system.stderr.write(`cachefleet: warning: the login travelled unencrypted to ${url}\n`)
}
