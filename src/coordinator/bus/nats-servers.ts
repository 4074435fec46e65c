/** Translates URLs of NATS servers into client options, because the client reads no credentials from URLs. */

interface NatsServers {
  /** `host:port`. */
  readonly servers: string[]
  readonly user?: string
  readonly pass?: string
  readonly token?: string
  /** TLS, verified by the system's authorities. */
  readonly tls?: Record<string, never>
}

const defaultPort = 4222

/** `nats://[user:password@ | token@]host[:port]`, or `tls://…`; the first credentials are used for all. */
export function readServers(urls: readonly string[]): NatsServers {
  const parsed = urls.map((url) => new URL(url))
  const withUser = parsed.find(({ username }) => username !== '')
  const user = decodeURIComponent(withUser?.username ?? '')
  const pass = decodeURIComponent(withUser?.password ?? '')
  return {
    servers: parsed.map(({ hostname, port }) => `${hostname}:${port || defaultPort}`),
    ...(user !== '' && pass !== '' && { user, pass }),
    ...(user !== '' && pass === '' && { token: user }),
    ...(parsed.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
  }
}
