/**
 * Finds flags that reveal a password: every user on the host can read the arguments of a process. `--store` and `--bus` take
 * complete URLs, so such a flag works, with a warning.
 */
import type { Schema } from './schema.js'

/** `values`: by flag, without the dashes. Returns names of flags, such as `--store`. */
export function findSecretFlags(
  values: Readonly<Record<string, string>>,
  schema: Schema,
): readonly string[] {
  return Object.values(schema)
    .filter(({ sensitive, arg }) => {
      const value = typeof arg === 'string' ? values[arg] : undefined
      return sensitive === true && value !== undefined && holdsSecret(value)
    })
    .map(({ arg }) => `--${String(arg)}`)
}

/** Before the host, or in a parameter. A user without a password is only a name for PostgreSQL, but a token for NATS. */
function holdsSecret(value: string): boolean {
  const [, protocol = '', credentials = ''] = /^(\w+):\/\/(.*)@/.exec(value) ?? []
  if (/[?&]password=/.test(value)) return true
  return protocol.startsWith('postgres') ? /:./.test(credentials) : credentials !== ''
}
