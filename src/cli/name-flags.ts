/** Rewrites the API's messages for the command line. */
import { toKebab } from './verb.js'

/**
 * Query parameters that messages mention, such as `?force=true`, are flags of the client: `--force`. A query that is part of a URL is left
 * unchanged.
 */
export function nameFlags(message: string): string {
  return message.replaceAll(
    /(?<=^|[\s("])\?([a-z][A-Za-z]*)=([\w,.…-]*[\w…])/g,
    (_, name: string, value: string) => `--${toKebab(name)}${value === 'true' ? '' : ` ${value}`}`,
  )
}
