/** The console's name of a cache: `<agentHost>:<agentPort>_<dash_n>` (docs/behaviour.md, Console caches). */

interface NamedCache {
  /** The agent's name. */
  readonly name: string
  /** The machine's host name; empty when it is not known. */
  readonly hostName: string
  readonly engineHost: string
  readonly enginePort: number
  readonly engineWorkingDirectory: string | null
}

/** Loopback or a wildcard: the same on every machine, so it identifies none. */
const namesNoHost =
  /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\*|\[?::1?\]?|\[?::ffff:127(?:\.\d{1,3}){3}\]?|)$/i

/** An agent that does not send its host name is usually named after the host (docs/behaviour.md, Names). */
export function readCacheHost({ engineHost, hostName, name }: NamedCache): string {
  if (!namesNoHost.test(engineHost)) return engineHost
  return hostName === '' ? name : hostName
}

export function readDashN({ engineWorkingDirectory, name }: NamedCache): string {
  return engineWorkingDirectory ?? name
}

export function composeCacheName(cache: NamedCache): string {
  return `${readCacheHost(cache)}:${cache.enginePort}_${readDashN(cache)}`
}
