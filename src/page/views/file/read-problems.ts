/** What the API's 422 says, place by place: `shop.vcl line 3 pos 5: Expected …`, `at shared.vcl line 2 pos 1`. */

export interface Problem {
  readonly file: string
  readonly line: number
  readonly position: number
  readonly message: string
}

/** Chosen by us: nobody mends more at once. */
const problemsMost = 100
const place =
  /^(?<at>at )?(?<file>.+?) line (?<line>\d{1,9}) pos (?<position>\d{1,9})(?:: (?<words>.*))?$/

/** Only of these files: a line that is shown of a source may look like a place. */
export function readProblems(text: string, files: ReadonlySet<string>): readonly Problem[] {
  const problems: Problem[] = []
  let message = ''
  for (const line of text.split('\n')) {
    const found = place.exec(line)?.groups
    if (!found || !files.has(found['file'] ?? '')) continue
    message = found['words'] ?? message
    const problem = { line: Number(found['line']), position: Number(found['position']), message }
    problems.push({ file: found['file'] ?? '', ...problem })
    if (problems.length === problemsMost) break
  }
  return problems
}
