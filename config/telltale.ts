/**
 * Flags that tell a password: everybody on the host can read the arguments of a process. The contract lets `--store` and `--bus`
 * take whole URLs, so such a flag works; who starts the daemon is warned.
 */
import type { Schema } from './schema.js'

/** `values`: `--flag=value`. Answers names of flags: `--store`. */
export function findTelltaleFlags(values: readonly string[], schema: Schema): readonly string[] {
  return Object.values(schema)
    .filter(({ sensitive, arg }) => sensitive === true && typeof arg === 'string')
    .map(({ arg }) => `--${String(arg)}`)
    .filter((flag) => values.some((value) => value.startsWith(`${flag}=`) && holdsSecret(value)))
}

/** Before the host, or in a parameter. A lone user is a name to PostgreSQL, and a token to NATS. */
function holdsSecret(value: string): boolean {
  const [, protocol = '', credentials = ''] = /=(\w+):\/\/(.*)@/.exec(value) ?? []
  if (/[?&]password=/.test(value)) return true
  return protocol.startsWith('postgres') ? /:./.test(credentials) : credentials !== ''
}
