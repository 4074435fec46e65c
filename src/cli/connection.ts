/**
 * Chooses the coordinator (`--server`, CACHEFLEET_SERVER, or the login's), the credentials (CACHEFLEET_TOKEN, CACHEFLEET_TOKEN_FILE, or the
 * login) and the CA (CACHEFLEET_CA, or the login's). A login's token is sent only to the server that issued it.
 */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createApi, type Api, type Credentials, type Server } from './api.js'
import { usageError } from './cli-error.js'
import { readSecretFile } from './given-text.js'
import { createSessionCredentials, loginNeeded } from './session-credentials.js'
import { readSession, sessionFilePath, type Session } from './session-file.js'
import type { ConnectionSettings, System } from './verb.js'

/** docs/behaviour.md, Connections. */
const defaultServerUrl = 'http://127.0.0.1:8002'

export async function openApi(settings: ConnectionSettings, system: System): Promise<Api> {
  const { environment, now } = system
  const { context, report } = settings
  const file = sessionFilePath(environment)
  const token = await readGivenToken(system)
  const session = token === undefined ? await readSession(file, context) : undefined
  const server = await chooseServer(settings, system, session)
  if (token !== undefined) return createApi(server, fixedToken(token), report)
  if (session?.server !== server.url) throw loginNeeded(server)
  const credentials = createSessionCredentials(server, { file, context }, { report, now })
  return createApi(server, credentials, report)
}

/** Throws CliError if an address is invalid. */
export async function chooseServer(
  { server }: ConnectionSettings,
  { environment }: System,
  session: Session | undefined,
): Promise<Server> {
  const given = server ?? notEmpty(environment['CACHEFLEET_SERVER'])
  const url = given === undefined ? (session?.server ?? defaultServerUrl) : parseServer(given)
  const kept = session?.server === url ? session.ca : undefined
  const ca = (await readCa(notEmpty(environment['CACHEFLEET_CA']))) ?? kept
  return { url, ca, traceId: randomUUID().replaceAll('-', '') }
}

function parseServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !isWeb)
    throw usageError(
      `${JSON.stringify(text)} is not an address; expected one like ${defaultServerUrl}`,
    )
  if (url.username !== '' || url.password !== '')
    throw usageError('The address holds a name or a password; they belong to cachefleet login')
  const address = `${url.origin}${url.pathname}`
  let end = address.length
  while (address.charAt(end - 1) === '/') end--
  return address.slice(0, end)
}

async function readCa(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  return readFile(file, 'utf8').catch(() => {
    throw usageError(`CACHEFLEET_CA: ${file} cannot be read`)
  })
}

async function readGivenToken(system: System): Promise<string | undefined> {
  const { CACHEFLEET_TOKEN: token, CACHEFLEET_TOKEN_FILE: file } = system.environment
  if (notEmpty(token) !== undefined) return checkToken(token ?? '', 'CACHEFLEET_TOKEN')
  if (notEmpty(file) === undefined) return undefined
  return checkToken(await readSecretFile(file ?? '', system), 'CACHEFLEET_TOKEN_FILE')
}

/** An Authorization header allows no other characters in a token (RFC 6750). */
function checkToken(token: string, variable: string): string {
  if (/^[A-Za-z0-9._~+/=-]+$/.test(token.trim())) return token.trim()
  throw usageError(`${variable} is not a token`)
}

function fixedToken(token: string): Credentials {
  return {
    readToken: () => Promise.resolve(token),
    renewToken: () => Promise.resolve(undefined),
  }
}

/** An empty variable counts as unset (docs/behaviour.md, Settings). */
function notEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}
