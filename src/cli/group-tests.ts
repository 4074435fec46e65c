/** Flags and output for the group tests that run before a verb. */
import { requireList, type Fields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { toPrintableLine } from './printable-text.js'
import { textFlag, type Flag, type Invocation } from './verb.js'

export const testsFlag: Flag = {
  form: '--tests <what>',
  summary: '`skip`: without running the tests of the group; for administrators',
}

/** The longest time that tests may take: waiting for a turn on a host, and running (docs/behaviour.md, Tests before deploys). */
const testTimeMs = 260_000

/** Throws CliError for any other value. */
export function readTests(invocation: Invocation): Readonly<Record<string, string>> {
  const tests = textFlag(invocation, 'tests')
  if (tests === undefined) return {}
  if (tests !== 'skip') throw usageError('--tests takes skip')
  return { tests }
}

/** Additional time that the call may take because of the group's tests. */
export function testTimeOf(group: Fields): number {
  return requireList(group['tests'] ?? []).length > 0 ? testTimeMs : 0
}

export function showWarnings({ system }: Invocation, { warnings }: Fields): void {
  if (!Array.isArray(warnings)) return
  for (const warning of warnings)
    system.stderr.write(`warning: ${toPrintableLine(String(warning))}\n`)
}
