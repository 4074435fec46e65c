/** A diff is judged by what it is for: applied to the first text it gives the second. */
import fc from 'fast-check'
import t from 'tap'
import { diffTexts } from '../../src/domain/text-diff.js'

const diff = (from: string, to: string): string =>
  diffTexts({ label: 'from', text: from }, { label: 'to', text: to })

void t.test('a property: applying the diff to the first text gives the second', (t) => {
  const line = fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'a\r\n', '--- x\n')
  const text = fc
    .tuple(fc.array(line, { maxLength: 60 }), fc.constantFrom('', 'a', 'end'))
    .map(([lines, rest]) => lines.join('') + rest)
  fc.assert(
    fc.property(text, text, (from, to) => applyDiff(from, diff(from, to)) === to),
    { numRuns: 500 },
  )
  t.end()
})

void t.test('equal texts have an empty diff', (t) => {
  t.equal(diff('one\n', 'one\n'), '')
  t.end()
})

void t.test('a changed line stands between three lines of context', (t) => {
  t.equal(
    diff('1\n2\n3\n4\n5\n6\n7\n8\n9\n', '1\n2\n3\n4\nfive\n6\n7\n8\n9\n'),
    '--- from\n+++ to\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n',
  )
  t.end()
})

void t.test('a missing last line feed is told', (t) => {
  t.match(diff('a\n', 'a'), /-a\n\+a\n\\ No newline at end of file\n/)
  t.end()
})

void t.test('texts that differ everywhere are shown whole, also far beyond the edit limit', (t) => {
  const many = (first: number): string =>
    Array.from({ length: 20_000 }, (_, index) => `${first + index}\n`).join('')

  const shown = diff(many(0), many(1_000_000))

  t.equal(shown.match(/^-/gm)?.length, 20_001)
  t.equal(applyDiff(many(0), shown), many(1_000_000))
  t.end()
})

/** Applies unified diff text strictly: context and removed lines must be where the diff says. */
function applyDiff(from: string, diffText: string): string {
  if (diffText === '') return from
  const source = from.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const result: string[] = []
  let next = 0
  const lines = (diffText.match(/[^\n]*\n/g) ?? []).slice(2)
  for (const [index, line] of lines.entries()) {
    const bare = bareLine(line, lines[index + 1])
    const hunk = /^@@ -(\d+)(?:,(\d+))? /.exec(line)
    if (hunk) {
      const start = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1)
      result.push(...source.slice(next, start))
      next = start
    } else if (line.startsWith('+')) result.push(bare)
    else if (!line.startsWith('\\')) {
      if (source[next] !== bare) throw new Error(`line ${next + 1} is not ${bare}`)
      if (line.startsWith(' ')) result.push(bare)
      next += 1
    }
  }
  return result.join('') + source.slice(next).join('')
}

/** A line of a hunk without its mark, and without its line feed where the next line says that it has none. */
function bareLine(line: string, next: string | undefined): string {
  return next?.startsWith('\\') === true ? line.slice(1, -1) : line.slice(1)
}
