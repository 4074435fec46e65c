/** The commands that enrol a host with a join token: what is pasted there is exactly what was meant. */

interface Enrolment {
  /** Of this coordinator, as the browser reached it: `https://fleet.example:8002`. */
  readonly origin: string
  readonly token: string
  readonly tags: readonly string[]
}

/** Where systemd's unit looks for it too; the daemon runs as user cachefleet there. */
const tokenFile = '/etc/cachefleet/join-token'

/** For a shell, as root. The token is read from standard input: it is in no process's arguments. */
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

/** The unit reads `/etc/default/cachefleet-agent`; of two lines for one setting the later counts. */
export function startAgentBySystemd({ origin, tags }: Enrolment): string {
  const named = joinTags(tags)
  return [
    "cat >> /etc/default/cachefleet-agent <<'END'",
    `CACHEFLEET_COORDINATOR_URL=${quoteForSystemd(toLinkUrl(origin))}`,
    `CACHEFLEET_JOIN_TOKEN_FILE=${tokenFile}`,
    ...(named === '' ? [] : [`CACHEFLEET_TAGS=${quoteForSystemd(named)}`]),
    'END',
    'systemctl enable cachefleet-agent',
    'systemctl restart cachefleet-agent',
  ].join('\n')
}

/** Agents dial by WebSocket. */
export function toLinkUrl(origin: string): string {
  return origin.replace(/^http/, 'ws')
}

/** Whether the address is good on the coordinator's own machine only. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

/** A tag with a comma would be two on the command line; the join token assigns it anyway. */
function joinTags(tags: readonly string[]): string {
  return tags.filter((tag) => !tag.includes(',') && tag.trim() === tag).join(',')
}

/** A word for a POSIX shell, as it is if it needs no quotes. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** systemd.exec(5), EnvironmentFile: in double quotes a backslash keeps `"`, `\`, `` ` `` and `$` as they are. */
function quoteForSystemd(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `"${value.replace(/["\\`$]/g, String.raw`\$&`)}"`
}
