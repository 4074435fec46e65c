/** Pure parts of the simulated engine: parsing requests, name patterns, expressions, columns, encoding replies. */
import fc from 'fast-check'
import t from 'tap'
import { matchesGlob } from '../../../protocol/simulator/glob.js'
import { findRegexMistake } from '../../../protocol/simulator/regex-check.js'
import { alignColumns, encodeReply, quoteBare } from '../../../protocol/simulator/reply-text.js'
import { RequestReader, type EngineRequest } from '../../../protocol/simulator/request-reader.js'
import { parseWords } from '../../../protocol/simulator/words.js'

function readAll(pieces: readonly string[]): EngineRequest[] {
  const reader = new RequestReader('neighbours')
  const requests: EngineRequest[] = []
  for (const piece of pieces) {
    reader.push(piece)
    for (let request = reader.next(true); request; request = reader.next(true))
      requests.push(request)
  }
  return requests
}

void t.test('any chunking of the bytes gives the same requests', (t) => {
  const bytes = fc.array(
    fc.constantFrom('a', 'E', 'F', ' ', '"', '\\', '<< EF', '\n', '\r', 'EF\n', '\0', '\xff'),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(60), { maxLength: 8 }), (parts, cuts) => {
      const text = parts.join('')
      const edges = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b)]
      const pieces = edges.map((edge, at) => text.slice(edge, edges[at + 1] ?? text.length))
      t.strictSame(readAll(pieces), readAll([text]))
    }),
  )
  t.end()
})

void t.test('the child parses words requoted by the manager unchanged', (t) => {
  const byte = fc.integer({ min: 1, max: 255 }).filter((code) => code !== 0x0b && code !== 0x20)
  const word = fc.array(byte, { minLength: 1 }).map((codes) => String.fromCharCode(...codes))
  fc.assert(
    fc.property(fc.array(word), (words) => {
      t.strictSame(parseWords(words.map(quoteBare).join(' '), 'neighbours'), { words })
    }),
  )
  t.end()
})

void t.test('a here-document ends at its token anywhere, matched without backtracking', (t) => {
  const words = (text: string) => readAll([text]).map(({ parsed }) => parsed)

  t.same(words('a << EOF\ntext\nEOF\n'), [{ words: ['a', 'text\n'] }])
  t.same(words('a << EOF\ntext #EOF\rb\n'), [{ words: ['a', 'text #'] }, { words: ['b'] }])
  t.same(words('a << EOF\nEEOF\nEOF\n'), [{ words: ['a', 'EEOF\n'] }])
  t.same(words('a << EOF\nEOFx\nEOF\n'), [{ words: ['a', 'EOFx\n'] }])
  t.same(words('a <<EOF\n'), [{ words: ['a', '<<EOF'] }])
  t.same(words('a << ""\n'), [{ words: ['a', '<<', ''] }])
  t.same(words('a << EOF\nnever'), [])
  t.end()
})

void t.test('names match patterns as with glob', (t) => {
  const table: readonly [pattern: string, name: string, fits: boolean][] = [
    ['*', '', true],
    ['a*', 'abc', true],
    ['*c', 'abc', true],
    ['a*b*c', 'axxbxxc', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[]]', ']', true],
    ['[a', '[a', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['a.b', 'axb', false],
  ]
  for (const [pattern, name, fits] of table)
    t.equal(matchesGlob(pattern, name), fits, `${pattern} ${name}`)
  t.notOk(matchesGlob('*a'.repeat(200), 'a'.repeat(199)), 'without backtracking for ever')
  t.end()
})

void t.test('mistakes in regular expressions are found', (t) => {
  for (const good of [
    '',
    'a|b',
    '^(a+)?$',
    '(?i)x',
    '(?:a)(?<n>b)(?=c)(?<!d)',
    '[]a]',
    '[[:alpha:]]',
    'a{2}{',
    'x*+',
    '\\(',
  ])
    t.equal(findRegexMistake(good), undefined, good)
  for (const bad of ['(', ')', '[', '*', 'a**?*', '\\', '(?z)', '(?<n', 'a{2,1}'])
    t.ok(findRegexMistake(bad), bad)
  t.end()
})

void t.test('the length of a reply counts bytes, except for the line feed at its end', (t) => {
  t.equal(encodeReply(200, '\xc3\xa4').toString('latin1'), '200 2       \n\xc3\xa4\n')
  t.equal(encodeReply(500, '').toString('latin1'), '500 0       \n\n')
  t.end()
})

void t.test('columns are as wide as their widest cell', (t) => {
  t.equal(alignColumns('a\tb\nccc\tdd\n'), 'a     b\nccc   dd\n')
  t.equal(alignColumns(''), '')
  t.end()
})
