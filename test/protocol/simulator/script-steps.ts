/** Steps of a script of commands, and the programs it loads. */

export interface Step {
  /** Sent with a trailing LF. latin1. */
  readonly line: string
  /** Tolerated differences of text, see `tolerances` in same-answers.test.ts. */
  readonly tolerate?: Tolerance
}

export type Tolerance =
  | 'status-only'
  | 'compiler'
  | 'head'
  | 'parameter'
  | 'parameters'
  | 'newest-ban'
  | 'probed'
  | 'builtin'
  | 'banner'

export const step = (line: string, tolerate?: Tolerance): Step =>
  tolerate === undefined ? { line } : { line, tolerate }

export const steps = (tolerate: Tolerance | undefined, ...lines: string[]): Step[] =>
  lines.map((line) => step(line, tolerate))

export const quoted = (text: string) =>
  text.replace(/[\\" \n]/g, (c) => (c === '\n' ? '\\n' : c === ' ' ? '\\x20' : `\\${c}`))

const token = 'k9z8Endoftext'
export const inline = (name: string, vcl: string) =>
  `vcl.inline ${name} << ${token}\n${vcl}\n${token}`

export const local = 'backend default { .host = "127.0.0.1"; }'
export const plain = `vcl 4.1; ${local}`
export const route = (...labels: string[]) =>
  `vcl 4.1; backend default none; sub vcl_recv { ${labels.map((label) => `if (req.url ~ "${label}") { return (vcl(${label})); }`).join(' ')} return (synth(404)); }`
