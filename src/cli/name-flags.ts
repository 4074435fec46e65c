/** What the API says of a call, in the words of a command line. */
import { toKebab } from './verb.js'

/**
 * The parameters of a call that its messages name, `?force=true`, are flags here, `--force`. A query within an address is
 * somebody's own and stays.
 */
export function nameFlags(message: string): string {
  return message.replaceAll(
    /(?<=^|[\s("])\?([a-z][A-Za-z]*)=([\w,.…-]*[\w…])/g,
    (_, name: string, value: string) => `--${toKebab(name)}${value === 'true' ? '' : ` ${value}`}`,
  )
}
