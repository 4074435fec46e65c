/** The lexer against its own rules and against the real compiler on the same text. */
import fc from 'fast-check'
import t from 'tap'
import { lexVcl, type Token } from '../../src/vcl/lexer.js'
import { advancePoint, textStart } from '../../src/vcl/text-point.js'
import { vclPieces, vclTexts } from '../support/arbitraries.js'
import { createCompiler } from '../support/compile-vcl.js'

const kindsOf = (text: string): string[] => [...lexVcl(text)].map(({ kind }) => kind)
const textsOf = (text: string): string[] => [...lexVcl(text)].map((token) => token.text)
const lastOf = (text: string): Token | undefined => [...lexVcl(text)].at(-1)

void t.test('a position counts UTF-8 bytes, and a tab advances to the next stop', (t) => {
  const places = ['a', 'é', '€', '\u{1f600}', '\t', 'b', '\n'].map((_, at, all) =>
    advancePoint(textStart, all.slice(0, at + 1).join('')),
  )
  t.same(
    places.map(({ position }) => position),
    [2, 4, 7, 11, 17, 18, 1],
  )
  t.same(places.at(-1), { line: 2, position: 1 })
  t.end()
})

void t.test(
  'every token is at its stated position, with only blanks and comments between tokens',
  (t) => {
    const property = fc.property(vclTexts, (text) => {
      let end = 0
      for (const token of lexVcl(text)) {
        if (token.start < end || token.end <= token.start) throw new Error('out of order')
        if (text.slice(token.start, token.end) !== token.text) throw new Error('another text')
        const { line, position } = advancePoint(textStart, text, 0, token.start)
        if (line !== token.line || position !== token.position) throw new Error('another place')
        const gap = text.slice(end, token.start)
        if (/\S/.test(gap.replace(/\/\*[^]*?\*\/|(?:#|\/\/)[^\n]*/g, '')))
          throw new Error(`lost ${gap}`)
        end = token.end
      }
    })

    fc.assert(property, { numRuns: 2000 })
    t.end()
  },
)

void t.test('complete pieces give the same tokens separately and joined', (t) => {
  const property = fc.property(fc.array(vclPieces), (pieces) => {
    const apart = pieces.flatMap((piece) => textsOf(piece))
    t.same(textsOf(pieces.join('\n')), apart)
  })

  fc.assert(property)
  t.end()
})

void t.test('the lexer refuses a text exactly when the compiler cannot read it', async (t) => {
  const compiler = await createCompiler()
  t.teardown(compiler.remove)
  const unreadable =
    /^(?:Unterminated (.*), starting at|(\/\* \.\.\. \*\/ comment contains \/\*))$/m
  const property = fc.asyncProperty(vclTexts, async (text) => {
    const last = lastOf(`vcl 4.1;\n${text}`)
    const { text: output } = await compiler.compile(`vcl 4.1;\n${text}`)
    const refused = unreadable.exec(output)
    const place = /'<vcl.inline>' Line (\d+) Pos (\d+)/.exec(output)
    // The compiler stops at the first byte it cannot use; the lexer leaves such bytes to it.
    if (/Syntax error at|BLOB|silly buggers|Too many digits/.test(output)) return
    if ((refused !== null) !== (last?.kind === 'error'))
      throw new Error(`${output}\n${String(last?.value)}`)
    if (refused === null) return
    if (!last?.value.startsWith(refused[0].replace(', starting at', '')))
      throw new Error(last?.value)
    t.same([last.line, last.position], [Number(place?.[1]), Number(place?.[2])])
  })

  await fc.assert(property, { numRuns: 150 })
})

void t.test('the tokens match those of the compiler', (t) => {
  t.same(textsOf('set req.http.X-Foo_1 += 10s;'), [
    ...['set', 'req', '.', 'http', '.', 'X-Foo_1', '+=', '10', 's', ';'],
  ])
  t.same(kindsOf('vcl 4.1;'), ['identifier', 'number', 'punctuation'])
  t.same(kindsOf('{"a "b" c"} """a "b" c""" "a" C{ int i; }C :AQID:'), [
    ...['string', 'string', 'string', 'inline-c', 'blob'],
  ])
  t.equal(lastOf('{"a "b" c"}')?.value, 'a "b" c')
  t.equal(lastOf('"""a "b" c"""')?.value, 'a "b" c')
  t.same(textsOf('a//b\nc#d\ne/*f\n*/g'), ['a', 'c', 'e', 'g'])
  t.same(textsOf('std /* */ . fileread'), ['std', '.', 'fileread'])
  t.same(textsOf(':////: include'), [':////:', 'include'], 'a blob hides no comment')
  t.same(textsOf('"é" 😀x'), ['"é"', '😀', 'x'])
  t.end()
})

void t.test('an unterminated construct is an error token at its start', (t) => {
  const table: readonly [string, string, number, number][] = [
    ['a\n\t"b\n"', 'Unterminated string', 2, 9],
    ['a "b', 'Unterminated string', 1, 3],
    ['é {"b"', 'Unterminated long-string', 1, 4],
    ['"""b""', 'Unterminated long-string', 1, 1],
    ['a\n\n C{ int', 'Unterminated inline C source', 3, 2],
    ['a /* b *', 'Unterminated /* ... */ comment', 1, 3],
    ['a /* b /* c */', '/* ... */ comment contains /*', 1, 3],
    ['/*/*/', '/* ... */ comment contains /*', 1, 1],
    [':abc:', 'Illegal BLOB', 1, 1],
  ]
  for (const [text, reason, line, position] of table) {
    const last = lastOf(text)
    t.same([last?.kind, last?.line, last?.position], ['error', line, position], text)
    t.ok(last?.value.startsWith(reason), `${text}: ${String(last?.value)}`)
  }
  t.end()
})
