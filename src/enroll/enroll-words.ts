/** The command line of `cachefleetd enroll`. Pure. */
import { parseArgs } from 'node:util'
import { ConfigError } from '../../config/load.js'

export interface EnrollWords {
  /** `ws://` or `wss://`, several separated by commas, in the format of the setting. */
  readonly coordinatorUrl: string
  /** Selects one of several caches on this host; null: there is one. */
  readonly instance: string | null
  readonly tokenFile: string | null
}

export const usage = `usage: cachefleetd enroll URL [--instance NAME] [--token-file FILE]
Enrols the cache that runs on this host at the coordinator URL, such as https://fleet.example:8002; as root.
The join token is read from FILE, from CACHEFLEET_JOIN_TOKEN or from standard input, and is never an argument.
--instance NAME: of several caches on this host the one whose -n ends in NAME; its agent is cachefleet-agent@NAME.`

/** It becomes part of the names of a unit, a file and an agent. */
const instanceForm = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,29}[A-Za-z0-9])?$/

/** Throws ConfigError with the correct form. */
export function readEnrollWords(words: readonly string[]): EnrollWords {
  const { values, positionals } = parse(words)
  const [url, ...more] = positionals
  if (url === undefined || more.length > 0) throw new ConfigError(usage)
  const { instance = null, 'token-file': tokenFile = null } = values
  if (instance !== null && !instanceForm.test(instance))
    throw new ConfigError(
      '--instance: it must have up to 31 letters, digits and dashes, as in -n /var/lib/varnish/NAME',
    )
  return { coordinatorUrl: url.split(',').map(toLinkUrl).join(','), instance, tokenFile }
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: { instance: { type: 'string' }, 'token-file': { type: 'string' } },
      allowPositionals: true,
    })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`${why}\n${usage}`)
  }
}

/** Accepts the address that users know from the browser. */
function toLinkUrl(text: string): string {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null
  const scheme = { 'https:': 'wss', 'wss:': 'wss', 'http:': 'ws', 'ws:': 'ws' }[url?.protocol ?? '']
  const isPlain = url?.username === '' && url.password === '' && url.search + url.hash === ''
  if (!url || !isPlain || scheme === undefined || url.hostname === '')
    throw new ConfigError(
      `${JSON.stringify(text)} is not the address of a coordinator; it must be like https://fleet.example:8002`,
    )
  const path = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname
  return `${scheme}://${url.host}${path}`
}
