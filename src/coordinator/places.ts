/** The default locations of a coordinator's files, and its default address (docs/behaviour.md, Settings). */
import { hostname } from 'node:os'
import { join } from 'node:path'

export function defaultStoreUrl(stateDir: string): string {
  return `sqlite:${join(stateDir, 'coordinator.db')}`
}

/** The statistics archive if the store is not PostgreSQL. */
export function defaultArchiveUrl(stateDir: string): string {
  return `sqlite:${join(stateDir, 'statistics.db')}`
}

/** The key that seals recoverable secrets in the store. */
export function defaultSecretKeyFile(stateDir: string): string {
  return join(stateDir, 'secret.key')
}

/** A listener on all addresses is reachable by the host name. */
export function toReachable(address: string): string {
  const url = new URL(address)
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = hostname()
  return url.origin
}
