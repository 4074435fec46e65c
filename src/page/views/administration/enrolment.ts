/** Builds the commands that enrol a host with a join token, quoted so that the shell changes nothing when they are pasted. */

interface Enrolment {
  /** The coordinator's URL as the browser reached it: `https://fleet.example:8002`. */
  readonly origin: string
  readonly token: string
  readonly tags: readonly string[]
}

/** For an agent started by hand as user cachefleet. */
const tokenFile = '/etc/cachefleet/join-token'

/** Shell command for root: finds the cache, writes the settings and starts the service. The token is read from standard input. */
export function enrolHost({ origin, token }: Enrolment): string {
  return [`cachefleetd enroll ${quoteForShell(origin)} <<'END'`, token, 'END'].join('\n')
}

/** Shell command for root. The token is read from standard input, so it appears in no process's arguments. */
export function writeTokenFile({ token }: Enrolment): string {
  return [
    'install -d -m 755 /etc/cachefleet',
    `install -m 600 -o cachefleet /dev/stdin ${tokenFile} <<'END'`,
    token,
    'END',
  ].join('\n')
}

export function startAgent({ origin, tags }: Enrolment): string {
  const named = joinTags(tags)
  return [
    'cachefleetd',
    `--coordinator-url ${quoteForShell(toLinkUrl(origin))}`,
    `--join-token-file ${tokenFile}`,
    ...(named === '' ? [] : [`--tags ${quoteForShell(named)}`]),
  ].join(' ')
}

/** Agents connect by WebSocket. */
export function toLinkUrl(origin: string): string {
  return origin.replace(/^http/, 'ws')
}

/** True if the address works only on the coordinator's own machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

/** A tag with a comma would become two on the command line; the join token assigns it anyway. */
function joinTags(tags: readonly string[]): string {
  return tags.filter((tag) => !tag.includes(',') && tag.trim() === tag).join(',')
}

/** Quotes a word for a POSIX shell if it needs quotes. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
