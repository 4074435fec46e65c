/** Password flags. A password is never a flag's value, which other users of the machine could see (docs/behaviour.md, Command line). */
import type { Flag } from './verb.js'

export const passwordFlags: readonly Flag[] = [
  { form: '--password-stdin', summary: 'the password is the first line of standard input' },
  { form: '--password-file <file>', summary: 'the password is the first line of a file' },
]
