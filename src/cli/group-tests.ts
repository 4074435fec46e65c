/** What the client asks and is told about the tests of a group that a verb runs first. */
import { requireList, type Fields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { toPrintableLine } from './printable-text.js'
import { textFlag, type Flag, type Invocation } from './verb.js'

export const testsFlag: Flag = {
  form: '--tests <what>',
  summary: '`skip`: without running the tests of the group; for administrators',
}

/** What tests may take at most: their turn on a host, and their run (docs/behaviour.md, Tests before deploys). */
const testTimeMs = 260_000

/** Throws CliError for another word. */
export function readTests(invocation: Invocation): Readonly<Record<string, string>> {
  const tests = textFlag(invocation, 'tests')
  if (tests === undefined) return {}
  if (tests !== 'skip') throw usageError('--tests takes skip')
  return { tests }
}

/** How much longer the call of a group may take. */
export function testTimeOf(group: Fields): number {
  return requireList(group['tests'] ?? []).length > 0 ? testTimeMs : 0
}

export function showWarnings({ system }: Invocation, { warnings }: Fields): void {
  if (!Array.isArray(warnings)) return
  for (const warning of warnings)
    system.stderr.write(`warning: ${toPrintableLine(String(warning))}\n`)
}
