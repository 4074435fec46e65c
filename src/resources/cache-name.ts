/** What the console calls a cache: `<agentHost>:<agentPort>_<dash_n>` (docs/behaviour.md, Console caches). */

interface NamedCache {
  /** Of the agent. */
  readonly name: string
  /** Of its machine; empty where it is not known. */
  readonly hostName: string
  readonly engineHost: string
  readonly enginePort: number
  readonly engineWorkingDirectory: string | null
}

/** Loopback or a wildcard: true on every machine, so it names none. */
const namesNoHost =
  /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\*|\[?::1?\]?|\[?::ffff:127(?:\.\d{1,3}){3}\]?|)$/i

/** An agent that does not send its host's name usually has the same name (docs/behaviour.md, Names). */
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
