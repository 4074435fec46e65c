/** `cachefleetd enroll URL` for a user: prompts for the token and prints the outcome in one line. */
import { readFile } from 'node:fs/promises'
import { geteuid, stdin, stdout } from 'node:process'
import type { Environment } from '../../config/load.js'
import { readSecretLine } from '../secret-line.js'
import { enrollHost, type Enrolled } from './enroll-host.js'
import { EnrollError, textOf } from './enroll-error.js'
import { readEnrollWords } from './enroll-words.js'

const waitMs = 60_000

/** Rejects with ConfigError for its arguments, with EnrollError for everything else. */
export async function runEnroll(words: readonly string[], environment: Environment): Promise<void> {
  const given = readEnrollWords(words)
  if (geteuid?.() !== 0)
    throw new EnrollError(
      'this is for root: it looks at the cache and writes the settings of a service',
    )
  const token = await readToken(given.tokenFile, environment['CACHEFLEET_JOIN_TOKEN'])
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      ending.abort(new EnrollError('interrupted: everything was taken back'))
    })
  const enrolled = await enrollHost({
    ...given,
    token,
    waitMs,
    root: '/',
    now: Date.now,
    signal: ending.signal,
    systemctl: ['systemctl'],
  })
  stdout.write(describe(enrolled))
  // Signal handlers do not keep the process running, but a lingering socket might.
  process.exit(0)
}

async function readToken(file: string | null, variable: string | undefined): Promise<string> {
  if (file !== null) {
    const text = await readFile(file, 'utf8').catch((cause: unknown) => {
      throw new EnrollError(`--token-file: ${file} cannot be read: ${textOf(cause)}`, { cause })
    })
    return text.trim()
  }
  if (variable !== undefined && variable !== '') return variable.trim()
  const line = (await readSecretLine('Join token: '))?.trim() ?? ''
  stdin.pause()
  if (line !== '') return line
  throw new EnrollError(
    'there is no join token: give it on standard input, in CACHEFLEET_JOIN_TOKEN or with --token-file; cachefleet jointokens add makes one',
  )
}

export function describe({ unit, name, release, address, lockedBecause }: Enrolled): string {
  const what = `${name} (${release} at ${address}, ${unit})`
  return lockedBecause === null
    ? `${what} is enrolled and Running\n`
    : `${what} is enrolled and Locked, since it ${lockedBecause}: cachefleet agents unlock ${name} --plan\n`
}
