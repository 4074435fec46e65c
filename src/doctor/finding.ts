/** One line of the doctor's output: a passed check, or a problem and its remedy. */
import { checks, type CheckName } from './problems.js'

export interface Finding {
  readonly check: CheckName
  readonly result: 'ok' | 'warn' | 'fail'
  readonly message: string
  /** Null: nothing to do. */
  readonly remedy: string | null
}

export function ok(check: CheckName, message: string): Finding {
  return { check, result: 'ok', message, remedy: null }
}

type ProblemName<Name extends CheckName> = string & keyof (typeof checks)[Name]['problems']

/** `values`: the values of the `{names}` in its texts. */
export function problem<Name extends CheckName>(
  check: Name,
  name: ProblemName<Name>,
  values: Readonly<Record<string, string | number>> = {},
): Finding {
  const problems: Readonly<Record<string, Finding | Template>> = checks[check].problems
  const { result, what, remedy } = problems[name] as Template // the type of the name says so
  const fill = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (_, key: string) => toLine(values[key] ?? '?'))
  return { check, result, message: fill(what), remedy: fill(remedy) }
}

interface Template {
  readonly result: 'warn' | 'fail'
  readonly what: string
  readonly remedy: string
}

/** External texts may have several lines. */
function toLine(value: string | number): string {
  return String(value).split('\n').filter(Boolean).join(' ').slice(0, 1000)
}
