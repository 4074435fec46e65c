/** Where a coordinator keeps its things, unless told otherwise (docs/behaviour.md, Settings). */
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
