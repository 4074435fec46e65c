/** Where a coordinator keeps its things, and where it is reached, unless told otherwise (docs/behaviour.md, Settings). */
import { hostname } from 'node:os'
import { join } from 'node:path'

export function defaultStoreUrl(stateDir: string): string {
  return `sqlite:${join(stateDir, 'coordinator.db')}`
}

/** The statistics, where the store is not PostgreSQL. */
export function defaultArchiveUrl(stateDir: string): string {
  return `sqlite:${join(stateDir, 'statistics.db')}`
}

/** Seals recoverable secrets in the store. */
export function defaultSecretKeyFile(stateDir: string): string {
  return join(stateDir, 'secret.key')
}

/** A listener on all addresses is reached by the host name. */
export function toReachable(address: string): string {
  const url = new URL(address)
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = hostname()
  return url.origin
}
