/** From a name and a password to a session file, and the end of it. The password is never kept, nor in an argument. */
import { checkAnswer, createApi, sendRequest, type Server } from './api.js'
import { CliError, exitCodes, usageError } from './cli-error.js'
import { chooseServer } from './connection.js'
import { readSecretFile, readSecretInput } from './given-text.js'
import { promptHidden } from './hidden-prompt.js'
import { showText } from './output.js'
import { createSessionCredentials, readTokens } from './session-credentials.js'
import { changeSession, readSession, sessionFilePath, type Session } from './session-file.js'
import { isSet, textFlag, type Invocation } from './verb.js'

export async function login(invocation: Invocation): Promise<undefined> {
  const { settings, surroundings } = invocation
  const user = textFlag(invocation, 'user')
  if (user === undefined || user === '') throw usageError('--user NAME is needed')
  if (user.includes(':')) throw usageError('names of accounts have no colon')
  const organization = textFlag(invocation, 'org') ?? null
  const file = sessionFilePath(surroundings.environment)
  const before = await readSession(file, settings.context)
  const server = await chooseServer(settings, surroundings, before)
  const password = await readPassword(invocation, `Password of ${user} at ${server.url}: `)
  const answer = await sendRequest(
    server,
    {
      method: 'POST',
      path: '/auth/login',
      ...(organization === null ? {} : { body: { org: organization } }),
    },
    `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
    settings.report,
  )
  const tokens = readTokens(checkAnswer(answer, server).body)
  const session: Session = { server: server.url, account: user, organization, ...tokens }
  await changeSession(file, settings.context, () => Promise.resolve(session))
  warnAboutPlainConnection(server, invocation)
  const where = organization === null ? '' : ` of ${organization}`
  showText(invocation.output, `logged in to ${server.url} as ${user}${where}`, {
    server: server.url,
    account: user,
    organization,
  })
}

/** A session that has ended already is only forgotten. */
export async function logout(invocation: Invocation): Promise<undefined> {
  const { settings, surroundings } = invocation
  const { context, report } = settings
  const file = sessionFilePath(surroundings.environment)
  const session = await readSession(file, context)
  if (!session) throw new CliError(exitCodes.denied, 'you are not logged in')
  const server = await chooseServer({ ...settings, server: session.server }, surroundings, session)
  const { now } = surroundings
  const credentials = createSessionCredentials(server, { file, context }, { report, now })
  const api = createApi(server, credentials, report)
  await api.call({ method: 'POST', path: '/auth/logout' }).catch((error: unknown) => {
    const hasEnded = error instanceof CliError && error.refusal?.status === 401
    if (!hasEnded) throw error
  })
  await changeSession(file, context, () => Promise.resolve(null))
  const { account } = session
  showText(invocation.output, `logged out of ${server.url}`, { server: server.url, account })
}

async function readPassword(invocation: Invocation, question: string): Promise<string> {
  const { surroundings } = invocation
  const file = textFlag(invocation, 'password-file')
  if (file !== undefined && isSet(invocation, 'password-stdin'))
    throw usageError('--password-stdin and --password-file exclude each other')
  if (file !== undefined) return readSecretFile(file, surroundings)
  if (isSet(invocation, 'password-stdin')) return readSecretInput(surroundings)
  if (!surroundings.stdin.isTTY || !surroundings.stderr.isTTY)
    throw usageError('without a terminal --password-stdin or --password-file is needed')
  return promptHidden(question, surroundings)
}

function warnAboutPlainConnection({ url }: Server, { surroundings }: Invocation): void {
  const { protocol, hostname } = new URL(url)
  const isLoopback = /^(127\.|localhost$|\[::1\]$)/.test(hostname)
  if (protocol === 'http:' && !isLoopback)
    surroundings.stderr.write(`cachefleet: warning: the password travelled unencrypted to ${url}\n`)
}
