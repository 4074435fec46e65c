/**
 * Finds the locations in a 422 message of the API: `shop.vcl line 3 pos 5: Expected …`, `at shared.vcl line 2 pos 1`; for a
 * test `cart.test.yaml line 7: step 3: …`.
 */

export interface Problem {
  readonly file: string
  readonly line: number
  readonly position: number
  readonly message: string
}

/** More than a user fixes at once. */
const maxProblems = 100
/** A compiler message is a few lines of text, then the source line, then marks below it. */
const maxLines = 8
const place = / line (?<line>\d{1,9})(?: pos (?<position>\d{1,9})|(?=: step ))(?:: (?<words>.*))?$/s

/** Accepts only these files, because a quoted source line may look like a location. */
export function readProblems(text: string, files: ReadonlySet<string>): readonly Problem[] {
  const problems: Problem[] = []
  const lines = text.split('\n')
  let message = ''
  for (const [at, line] of lines.entries()) {
    const match = place.exec(line)
    const file = line.slice(0, match?.index).replace(/^at /, '')
    if (!match?.groups || !files.has(file)) continue
    const { words } = match.groups
    if (words !== undefined) message = joinMessage(words, lines.slice(at + 1, at + 1 + maxLines))
    const problem = {
      line: Number(match.groups['line']),
      position: Number(match.groups['position'] ?? 1),
    }
    problems.push({ file, ...problem, message })
    if (problems.length === maxProblems) break
  }
  return problems
}

/** Of `Expected one of`, `\t'acl', 'sub' or 'vcl'`, `Found: 'sett' at`, the line and its marks, joins the first three. */
function joinMessage(words: string, next: readonly string[]): string {
  const end = next.findIndex(isMarks) - 1
  const further = end > 0 && !next.slice(0, end).some((line) => place.test(line)) ? end : 0
  return [words, ...next.slice(0, further)].join(' ').replace(/\s+/g, ' ').replace(/ at$/, '')
}

function isMarks(line: string): boolean {
  return line.includes('#') && /^[-#]+$/.test(line)
}
