/**
 * Flags that reveal a password: everybody on the host can read the arguments of a process. `--store` and `--bus` take whole
 * URLs, so such a flag works, with a warning.
 */
import type { Schema } from './schema.js'

/** `values` by flag, without the dashes. Answers names of flags: `--store`. */
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

/** Before the host, or in a parameter. A lone user is a name to PostgreSQL, and a token to NATS. */
function holdsSecret(value: string): boolean {
  const [, protocol = '', credentials = ''] = /^(\w+):\/\/(.*)@/.exec(value) ?? []
  if (/[?&]password=/.test(value)) return true
  return protocol.startsWith('postgres') ? /:./.test(credentials) : credentials !== ''
}
