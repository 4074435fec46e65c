/** The token of a login: on expiry one process renews it for all that are running (docs/behaviour.md, Client sessions). */
import { checkAnswer, sendRequest, type Credentials, type ReportCall, type Server } from './api.js'
import { requireFields, type Fields } from './api-shapes.js'
import { CliError, exitCodes } from './cli-error.js'
import { changeSession, readSession, type Session } from './session-file.js'

/** Shorter than the validity of the lock (session-lock.ts). */
const refreshTimeoutMs = 15_000

interface SessionPlace {
  readonly file: string
  readonly context: string
}

export function createSessionCredentials(
  server: Server,
  place: SessionPlace,
  options: { readonly report: ReportCall; readonly now: () => number },
): Credentials {
  const isExpired = (session: Session): boolean => session.accessExpire * 1000 <= options.now()

  /** `used`: a token that was rejected. */
  const renew = async (used: string | undefined): Promise<string> => {
    const session = await changeSession(place.file, place.context, async (now) => {
      if (!now) throw loginNeeded(server)
      const isRenewed = now.accessToken !== used && !isExpired(now)
      return isRenewed ? now : refresh(server, now, options.report)
    })
    if (!session) throw loginNeeded(server)
    return session.accessToken
  }
  return {
    readToken: async () => {
      const session = await readSession(place.file, place.context)
      if (!session) throw loginNeeded(server)
      return isExpired(session) ? renew(undefined) : session.accessToken
    },
    renewToken: renew,
  }
}

export function loginNeeded({ url }: Server): CliError {
  return new CliError(
    exitCodes.denied,
    `You are not logged in to ${url}: cachefleet login --server ${url} --user NAME`,
  )
}

/** Reads the token fields of Login and Refresh responses (docs/behaviour.md, Tokens). */
export function readTokens(
  body: unknown,
): Pick<Session, 'accessToken' | 'accessExpire' | 'refreshToken' | 'refreshExpire'> {
  const fields = requireFields(body)
  return {
    accessToken: readText(fields, 'accessToken'),
    accessExpire: readSeconds(fields, 'accessExpire'),
    refreshToken: readText(fields, 'refreshToken'),
    refreshExpire: readSeconds(fields, 'refreshExpire'),
  }
}

async function refresh(server: Server, session: Session, report: ReportCall): Promise<Session> {
  const answer = await sendRequest(
    server,
    { method: 'POST', path: '/auth/refresh', timeoutMs: refreshTimeoutMs },
    `Refresh ${session.refreshToken}`,
    report,
  )
  return { ...session, ...readTokens(checkAnswer(answer, server).body) }
}

function readText(fields: Fields, key: string): string {
  const value = fields[key]
  if (typeof value === 'string') return value
  throw new Error(`The coordinator answered no ${key}`)
}

function readSeconds(fields: Fields, key: string): number {
  const value = fields[key]
  if (typeof value === 'number') return value
  throw new Error(`The coordinator answered no ${key}`)
}
