/**
 * Limits the cost of regular expressions from organizations. The cache's tool matches each record of the log by backtracking:
 * repeating a part that itself repeats or has alternatives takes exponential time, and each further repetition adds a power.
 */

/** docs/behaviour.md, Live log. */
const expressionLimitCharacters = 100
const maxRepetitions = 4

/** Returns why it is refused, or null. */
export function findExpressionProblem(expression: string): string | null {
  if (expression.length > expressionLimitCharacters)
    return `a regular expression has at most ${expressionLimitCharacters} characters`
  if (/\\[1-9gkKQ]|\(\?(?!i\)|:)|\(\*/.test(expression))
    return 'back references, \\Q, and groups that begin with (? other than (?: and (?i) are not allowed'
  const { isNested, repetitions } = readRepetitions(expression)
  if (isNested) return 'what is repeated must not contain a repetition or alternatives'
  return repetitions > maxRepetitions ? `it repeats more than ${maxRepetitions} parts` : null
}

function readRepetitions(expression: string): { isNested: boolean; repetitions: number } {
  // The structure only: each escaped character or class becomes one character.
  const plain = expression.replace(/\\[^]/g, 'x').replace(/\[\^?\]?[^\]]{0,100}\]?/g, 'x')
  const repetitions = plain.match(/[*+]|\{\d/g)?.length ?? 0
  const open: number[] = []
  let isNested = false
  for (const { 0: bracket, index: at } of plain.matchAll(/[()]/g)) {
    if (bracket === '(') open.push(at)
    else {
      const from = open.pop() ?? 0
      isNested ||=
        /^(?:[*+]|\{\d)/.test(plain.slice(at + 1)) && /[*+|]|\{\d/.test(plain.slice(from, at))
    }
  }
  return { isNested, repetitions }
}
