/**
 * The user's logins by context name, in `$XDG_CONFIG_HOME/cachefleet/session.json` (0600, folder 0700; docs/behaviour.md, Client sessions).
 * The file is written as a whole and renamed into place; every change holds the lock (session-lock.ts).
 */
import { chmod, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readIfThere, writeDurably } from '../runtime/durable-file.js'
import { isFields, parseJson } from './api-shapes.js'
import { CliError, exitCodes } from './cli-error.js'
import { withSessionLock } from './session-lock.js'

export interface Session {
  readonly server: string
  /** PEM: the only CA that this login trusts for its server. */
  readonly ca?: string
  readonly account: string
  /** Null for the system administrator. */
  readonly organization: string | null
  readonly accessToken: string
  /** Seconds since 1970. */
  readonly accessExpire: number
  readonly refreshToken: string
  /** Seconds since 1970. */
  readonly refreshExpire: number
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The context used without `--context`. */
export const defaultContext = 'default'

export function sessionFilePath({ XDG_CONFIG_HOME: configHome, HOME: home }: Environment): string {
  // XDG base directory specification: relative paths are ignored.
  const base = configHome?.startsWith('/') ? configHome : join(home ?? '/', '.config')
  return join(base, 'cachefleet', 'session.json')
}

/** Returns undefined if the context has no login. */
export async function readSession(file: string, context: string): Promise<Session | undefined> {
  return (await readSessions(file)).get(context)
}

/**
 * Changes one context under the lock: `change` receives the current session and returns the one to write. Null removes the context, and
 * with the last context the file.
 */
export async function changeSession(
  file: string,
  context: string,
  change: (session: Session | undefined) => Promise<Session | null>,
): Promise<Session | null> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await chmod(dirname(file), 0o700)
  return withSessionLock(`${file}.lock`, async () => {
    const sessions = await readSessions(file)
    const before = sessions.get(context)
    const after = await change(before)
    if (after === before) return after
    if (after) sessions.set(context, after)
    else sessions.delete(context)
    await writeSessions(file, sessions)
    return after
  })
}

export async function readSessions(file: string): Promise<Map<string, Session>> {
  const stored = parseJson((await readIfThere(file)) ?? '{}')
  const entries = isFields(stored) ? Object.entries(stored) : [['', stored] as [string, unknown]]
  const broken = entries.find((entry) => !isSessionEntry(entry))
  if (!broken) return new Map(entries.filter(isSessionEntry))
  const which = isFields(stored) ? ` (context ${JSON.stringify(broken[0])})` : ''
  throw new CliError(
    exitCodes.refused,
    `${file} cannot be read as sessions${which}; remove it and log in again`,
  )
}

async function writeSessions(file: string, sessions: ReadonlyMap<string, Session>): Promise<void> {
  if (sessions.size === 0) await rm(file, { force: true })
  else await writeDurably(file, `${JSON.stringify(Object.fromEntries(sessions), null, 2)}\n`)
}

function isSessionEntry(entry: [string, unknown]): entry is [string, Session] {
  const [, value] = entry
  return (
    isFields(value) &&
    ['server', 'account', 'accessToken', 'refreshToken'].every(
      (key) => typeof value[key] === 'string',
    ) &&
    URL.canParse(String(value['server'])) &&
    (value['ca'] === undefined || typeof value['ca'] === 'string') &&
    (value['organization'] === null || typeof value['organization'] === 'string') &&
    ['accessExpire', 'refreshExpire'].every((key) => typeof value[key] === 'number')
  )
}
