/** Flattening: the compiler sees the same tokens as with includes, and every position maps back to its author's file. */
import fc from 'fast-check'
import t from 'tap'
import { compileVcl } from '../../src/agent/simulated/compile-vcl.js'
import { locateSource } from '../../src/vcl/source-map.js'
import {
  bundleInSteps,
  bundleVcl,
  vclDeclaresVersion,
  type Bundle,
  type VclText,
} from '../../src/vcl/bundle.js'
import { lexVcl, type Token } from '../../src/vcl/lexer.js'
import { vclFilesOf, vclPieces, type VclFiles } from '../support/arbitraries.js'

const none = { allowedExternal: new Set<string>(), modules: null }

interface PlacedToken {
  readonly text: string
  readonly file: string
  readonly line: number
  readonly position: number
}

/** The tokens that a compiler with all files at hand would read. */
function expand(file: VclText, includes: VclFiles['includes']): PlacedToken[] {
  const found: PlacedToken[] = []
  const tokens: Token[] = [...lexVcl(file.text)]
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]
    if (!token) break
    const child = token.text === 'include' ? includes.get(tokens[at + 1]?.value ?? '') : undefined
    if (child) {
      found.push(...expand(child, includes))
      at += 2
    } else found.push(placed(token, { ...token, file: file.name }))
  }
  return found
}

function placed(token: Token, place: Omit<PlacedToken, 'text'> | null): PlacedToken {
  const { file, line, position } = place ?? { file: 'nowhere', line: 0, position: 0 }
  return { text: `${token.kind} ${token.text}`, file, line, position }
}

function bundled(main: string, files: Record<string, string> = {}): Bundle {
  const result = bundle(main, files)
  if (!result.ok) throw new Error(result.errors.join('\n'))
  return result
}

function refused(main: string, files: Record<string, string> = {}): readonly string[] {
  const result = bundle(main, files)
  return result.ok ? [] : result.errors
}

function bundle(main: string, files: Record<string, string>): ReturnType<typeof bundleVcl> {
  const includes = Object.entries(files).map(([name, text]) => [name, { name, text }] as const)
  return bundleVcl({ name: 'main.vcl', text: main }, new Map(includes), none)
}

void t.test('the flattened text has the tokens of its files, and the map their positions', (t) => {
  const pieces = vclPieces.filter((piece) => piece !== 'include' && !piece.includes('{'))
  let whole = 0
  const property = fc.property(vclFilesOf(pieces), ({ main, includes }) => {
    const expected = expand(main, includes)

    const result = bundleVcl(main, includes, none)

    const isUnreadable = expected.some(({ text }) => text.startsWith('error'))
    if (result.ok === isUnreadable) throw new Error(JSON.stringify(result))
    if (!result.ok) return
    const { text, sourceMap } = result
    const stored = JSON.parse(JSON.stringify(sourceMap)) as typeof sourceMap // as it was written
    const seen = [...lexVcl(text)].map((token) => placed(token, locateSource(stored, token)))
    if (JSON.stringify(seen) !== JSON.stringify(expected))
      throw new Error(
        `${JSON.stringify(text)}\n${JSON.stringify(seen)}\n${JSON.stringify(expected)}`,
      )
    whole++
  })

  fc.assert(property, { numRuns: 3000 })
  t.ok(whole > 1000, `${whole} of them could be read`)
  t.end()
})

void t.test(
  'the text sent contains only the files, joined by line feeds, and no include to resolve',
  (t) => {
    const property = fc.property(vclFilesOf(vclPieces), ({ main, includes }) => {
      const result = bundleVcl(main, includes, none)
      if (!result.ok) return
      const asks = [...lexVcl(result.text)].some(
        ({ text }, at, tokens) =>
          text === 'include' && tokens[at + 1]?.kind === 'string' && tokens[at + 2]?.text === ';',
      )
      if (asks) throw new Error(`the cache would read a file: ${JSON.stringify(result.text)}`)
    })

    fc.assert(property, { numRuns: 2000 })
    t.end()
  },
)

void t.test('a text without includes is sent unchanged', (t) => {
  const text = 'vcl 4.1;\n# include "a";\n/* include "b"; */\nset x = {"include "c";"};\n'

  const { text: sent, sourceMap } = bundled(text)

  t.equal(sent, text)
  const end = { line: 4, position: 26 }
  t.same(sourceMap, { files: ['main.vcl'], segments: [[1, 1, 0, 1, 1]], end })
  t.end()
})

void t.test('a file may be included twice, and in the middle of a line', (t) => {
  const { text } = bundled('a include "x";b include "x"; c', { x: 'sub' })

  t.equal(text, 'a sub\nb sub c')
  t.end()
})

void t.test('a comment at the end of a file does not extend into the next', (t) => {
  t.equal(bundled('include "x"; b', { x: 'a // end' }).text, 'a // end\n b')
  t.equal(bundled('include "x"; b', { x: '# "only' }).text, '# "only\n b')
  t.end()
})

void t.test('an allowed file of the cache stays an include statement', (t) => {
  const allowedExternal = new Set(['devicedetect.vcl'])
  const text = 'include "devicedetect.vcl";\ninclude "other.vcl";\n'

  const result = bundleVcl({ name: 'main.vcl', text }, new Map(), {
    allowedExternal,
    modules: null,
  })

  t.match(result, { ok: false, errors: [/^main.vcl line 2 pos 9: Cannot include "other.vcl": /] })
  const alone = text.slice(0, 28)
  t.match(bundleVcl({ name: 'm', text: alone }, new Map(), { allowedExternal, modules: null }), {
    text: alone,
  })
  t.end()
})

void t.test('refusals contain file, line and position', (t) => {
  const table: readonly [string, Record<string, string>, RegExp][] = [
    [
      '\ninclude "nosuch";',
      {},
      /^main.vcl line 2 pos 9: Cannot include "nosuch": the group has no/,
    ],
    ['include "/etc/passwd";', {}, /^main.vcl line 1 pos 9: .* paths are not read/],
    ['include "./a";', { a: '' }, /paths are not read/],
    ['include {"../a"};', { a: '' }, /paths are not read/],
    ['include +glob "*.vcl";', {}, /^main.vcl line 1 pos 9: include takes no flag/],
    ['include -glob "a";', { a: '' }, /include takes no flag/],
    ['set req.http.x = req.http.include "a";', {}, /Cannot include "a"/],
    [
      'include "a";',
      { a: '\n include "a";' },
      /^a line 2 pos 10: Recursive use of file "a": main.vcl → a → a$/,
    ],
    [
      'include "a";',
      { a: 'include "main.vcl";' },
      /^a line 1 pos 9: Recursive use of file "main.vcl"/,
    ],
    ['include "a";', { a: 'include "b";', b: 'include "a";' }, /^b line 1 pos 9: Recursive/],
    ['include "a";', { a: '\n"x' }, /^a line 2 pos 1: Unterminated string/],
    ['/* include "a";', { a: '' }, /^main.vcl line 1 pos 1: Unterminated/],
    ['a\n\t\0', {}, /^main.vcl line 2 pos 9: A NUL byte/],
    ['# \ud800', {}, /^main.vcl line 1 pos 3: Half of a surrogate pair/],
    ['include include "a";', { a: '"/etc/passwd";' }, /^a line 1 pos 1: An include statement must/],
    ['include "a"; "/etc/passwd";', { a: 'include' }, /must stand in one file/],
    ['include "a"; glob "/etc/*";', { a: 'include +' }, /^a line 1 pos 9: include takes no flag/],
    [
      'include "a"; +glob "/etc/*";',
      { a: 'include' },
      /^main.vcl line 1 pos 14: include takes no flag/,
    ],
  ]
  for (const [main, files, error] of table)
    t.match(refused(main, files), [error], JSON.stringify(main))
  t.end()
})

void t.test('every missing include is reported once, at most twenty in all', (t) => {
  const errors = refused('include "a";\ninclude "a";\ninclude "x";', { a: 'include "y";' })

  t.match(errors, [/^a line 1 pos 9: .*"y"/, /^main.vcl line 3 pos 9: .*"x"/])
  t.equal(errors.length, 2)
  t.equal(refused('include "x";\n'.repeat(50)).length, 20)
  t.end()
})

void t.test(
  'blocks may be nested 100 deep, including the subroutine’s own, also across files',
  (t) => {
    const nested = (depth: number): string =>
      `sub vcl_recv {\n${'if (1) {\n'.repeat(depth - 1)}${'}\n'.repeat(depth)}`

    t.same(refused(nested(100)), [])
    t.match(refused(nested(101)), [/^main.vcl line 101 pos 8: Blocks are nested deeper than 100$/])
    const outer = `${'if (1) {\n'.repeat(60)}include "a";${'}\n'.repeat(60)}`
    t.match(refused(outer, { a: `${'{'.repeat(41)}${'}'.repeat(41)}` }), [
      /^a line 1 pos 41: Blocks/,
    ])
    t.same(
      refused(`${'{} '.repeat(500)} # ${'{'.repeat(500)}`),
      [],
      'adjacent blocks, and braces in comments',
    )
    t.end()
  },
)

void t.test('the simulated engine refuses the same nesting', (t) => {
  const inside = fc.constantFrom(
    '',
    '# {{{\n',
    '/* { */',
    'set req.http.a = "{";',
    'set req.http.a = {"}}"};',
  )
  const property = fc.property(fc.integer({ min: 90, max: 110 }), inside, (depth, text) => {
    const blocks = `${'if (req.restarts == 0) {'.repeat(depth - 1)}${text}${'}'.repeat(depth)}`
    const source = `vcl 4.1;\nbackend default none;\nsub vcl_recv {${blocks}\n`
    const context = { labels: new Set<string>(), refusesUnused: true, hasNoneBackend: true }
    const compiled = compileVcl(source, context)
    const isCompiled = !('refusal' in compiled)
    const errors = refused(source)
    if (isCompiled !== depth <= 100 || isCompiled !== (errors.length === 0))
      throw new Error(`${depth} deep: ${isCompiled ? '' : compiled.refusal} ${errors.join()}`)
  })

  fc.assert(property)
  t.end()
})

void t.test('a flattened text may have 2 MiB', (t) => {
  const mebibyte = `#${'é'.repeat((1 << 19) - 1)}\n`

  t.same(refused('include "a";include "a";', { a: mebibyte }), [])
  t.match(refused('include "a";include "a";\n#', { a: mebibyte }), [/is over 2097152 bytes/])
  t.match(refused('x'.repeat((2 << 20) + 1)), [/^main.vcl line 1 pos 1: main.vcl is over 2097152/])
  t.match(refused('\ninclude "a";', { a: 'é'.repeat((1 << 20) + 1) }), [
    /^main.vcl line 2 pos 9: a is/,
  ])
  t.end()
})

void t.test('at most 1,000 include statements are expanded', (t) => {
  const many = (count: number): string => 'include "a";\n'.repeat(count)

  t.same(refused(many(1000), { a: '' }), [])
  t.match(refused(many(1001), { a: '' }), [/^main.vcl line 1001 pos 9: More than 1000 include/])
  const bomb = Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [`f${at}`, `include "f${at + 1}";`.repeat(2)]),
  )
  t.match(refused('include "f0";', { ...bomb, f30: '' }), [/More than 1000 include/])
  t.end()
})

void t.test('a main file begins with a version declaration', (t) => {
  const table: readonly [string, boolean][] = [
    ['vcl 4.1;', true],
    ['\n# a\n/* b */ vcl\n4.0 ;', true],
    ['# vcl 4.1; in a comment\nsub a { }', false],
    ['sub a { }\nvcl 4.1;', false],
    ['vcl_recv 4.1;', false],
    ['"vcl" 4.1;', false],
    ['vcl', false],
    ['', false],
  ]
  for (const [text, declares] of table) t.equal(vclDeclaresVersion(text), declares, text)
  t.end()
})

void t.test('a long text is read in several steps, so that the event loop is not blocked', (t) => {
  const steps = bundleInSteps(
    {
      name: 'main.vcl',
      text: `vcl 4.1;\nsub vcl_recv {\n${'set req.url = "/";\n'.repeat(12_000)}}\n`,
    },
    new Map(),
    none,
  )
  let pauses = 0
  let step = steps.next()
  for (; !step.done; step = steps.next()) pauses += 1
  t.match(step.value, { ok: true })
  t.ok(pauses > 0)
  t.end()
})
