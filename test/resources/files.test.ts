/** Files and names: validation and defaults. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import {
  findAccountNameProblem,
  findAgentNameProblem,
  findNameProblem,
  linkedAgentNameLimit,
  parseName,
} from '../../src/resources/names.js'
import { findLabelUse, rebuildInSteps, type VclPart } from '../../src/vcl/running-vcl.js'
import { bundleVcl, type VclText } from '../../src/vcl/bundle.js'
import {
  defaultContentType,
  defaultFileType,
  isFileType,
  readFileContent,
  type FileContent,
} from '../../src/vcl/file.js'

function read(source: string, encoded = false): FileContent {
  const result = readFileContent({ source, encoded })
  if (!result.ok) throw new Error(result.problem)
  return result.content
}

void t.test('base64 is accepted only in its canonical form', (t) => {
  const anyBytes = fc.property(fc.uint8Array(), (bytes) => {
    const { bytes: back, sha } = read(Buffer.from(bytes).toString('base64'), true)
    if (Buffer.compare(back, bytes) !== 0) throw new Error('other bytes')
    if (sha !== createHash('sha256').update(bytes).digest('hex')) throw new Error('another sha')
  })
  const anyText = fc.property(
    fc.string({ unit: fc.constantFrom('A', 'Q', 'b', '/', '+', '=', '_', '-', ' ', '\n') }),
    (source) => {
      const strict =
        /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/
      if (readFileContent({ source, encoded: true }).ok !== strict.test(source))
        throw new Error(source)
    },
  )

  fc.assert(anyBytes)
  fc.assert(anyText, { numRuns: 2000 })
  for (const source of [
    '!!!',
    'abc',
    'YWJj\u00a0',
    'YW Jj',
    'YWJj===',
    'YWI',
    'YWJ=',
    'YWJj\n',
    'YW_j',
  ])
    t.match(readFileContent({ source, encoded: true }), { ok: false, problem: /base64/ }, source)
  t.end()
})

void t.test('text is kept exactly, and its bytes are UTF-8', (t) => {
  const property = fc.property(fc.string({ unit: 'grapheme' }), (source) => {
    const { text, bytes } = read(source)
    if (!source.includes('\0') && text !== source) throw new Error('another text')
    if (Buffer.from(bytes).toString('utf8') !== source) throw new Error('other bytes')
    if (read(Buffer.from(bytes).toString('base64'), true).text !== text) throw new Error('encoded')
  })

  fc.assert(property)
  t.match(readFileContent({ source: 'a\ud800', encoded: false }), { ok: false, problem: /UTF-8/ })
  t.equal(read('\ufeffvcl 4.1;').text, '\ufeffvcl 4.1;')
  t.end()
})

void t.test('a file without a type gets one from its content', (t) => {
  const table: readonly [string, boolean, number][] = [
    ['vcl 4.1;\n', false, 1],
    ['# note\n  vcl 4.0;\nbackend default none;\n', false, 1],
    ['# vcl 4.1; in a comment\nsub nothing { }\n', false, 2],
    ['', false, 2],
    ['a\0b', false, 3],
    [Buffer.from('vcl 4.1;').toString('base64'), true, 1],
    [Buffer.from([0xff, 0xfe]).toString('base64'), true, 3],
  ]
  for (const [source, encoded, type] of table)
    t.equal(defaultFileType(read(source, encoded)), type, JSON.stringify(source))
  t.same([0, 1, 2, 3, 4, 5, '1', null].map(isFileType), [
    ...[false, true, true, true, true],
    ...[false, false, false],
  ])
  t.same([true, false].map(defaultContentType), [
    'application/octet-stream',
    'text/plain; charset=utf-8',
  ])
  t.end()
})

/** Test names are parsed line by line; some of these names would break that. */
const inHex = (name: string): string => Buffer.from(name.slice(0, 9), 'utf16le').toString('hex')

void t.test('names are 1 to 255 characters without control characters', (t) => {
  const good = ['a', ' ', 'é'.repeat(255), '😀'.repeat(255), 'a/b "c" <d>', '\u00a0', '\ufffd']
  const bad = [
    '',
    'a'.repeat(256),
    '😀'.repeat(256),
    'a\nb',
    'a\0',
    '\x7f',
    '\x85',
    '\u2028',
    '\u2029',
  ]
  for (const name of good) t.equal(findNameProblem(name), null, inHex(name))
  for (const name of [...bad, 'a\ud800', '\udc00'])
    t.type(findNameProblem(name), 'string', inHex(name))
  t.type(findAccountNameProblem('a:b'), 'string')
  t.equal(findAccountNameProblem('a b'), null)
  t.equal(parseName('a', 'tag'), 'a')
  t.throws(() => parseName('', 'tag'), {
    kind: 'invalid',
    errorKey: 'tag',
    message: /^name: .*255/,
  })
  t.end()
})

void t.test('agent names are letters, digits and dashes, with a limited length', (t) => {
  for (const name of ['a', 'Edge-1', '-', '9'.repeat(52)]) t.equal(findAgentNameProblem(name), null)
  for (const name of ['', 'a_b', 'a.b', 'é', 'a\n', '9'.repeat(53)])
    t.type(findAgentNameProblem(name), 'string', JSON.stringify(name))
  t.equal(findAgentNameProblem('9'.repeat(63), linkedAgentNameLimit), null)
  t.type(findAgentNameProblem('9'.repeat(64), linkedAgentNameLimit), 'string')
  t.end()
})

/** A tree of included files. */
interface Tree {
  readonly pieces: readonly (string | Tree)[]
}

const trees = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    pieces: fc.array(
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom(
          'sub a { }\n',
          '# include "no";\n',
          'include_me; ',
          '{"include "x";"}',
          '\t',
        ),
        tie('tree'),
      ),
      { maxLength: 4 },
    ),
  }),
})).tree

void t.test('the listing of vcl.show -v is flattened like the original files', (t) => {
  const property = fc.property(trees, (tree) => {
    const parts: VclPart[] = []
    const files = new Map<string, VclText>()
    const write = ({ pieces }: Tree): string => {
      const at = parts.length
      const name = `./${at}.vcl`
      parts.push({ file: '', text: '' })
      const texts = pieces.map((one) =>
        typeof one === 'string' ? one : `include "${write(one)}";`,
      )
      const text = `vcl 4.1;\n${texts.join('')}`
      parts[at] = { file: `/etc/varnish/${at}.vcl`, text }
      files.set(name, { name, text })
      return name
    }
    const main = files.get(write(tree)) ?? { name: '', text: '' }
    const expected = bundleVcl(main, files, { allowedExternal: new Set(), modules: null })

    const rebuilt = rebuild(parts, 'adopted-edge')

    if (!rebuilt.ok || !expected.ok) throw new Error(JSON.stringify([rebuilt, expected]))
    if (rebuilt.bundle.text !== expected.text) throw new Error('another text')
    if (rebuilt.main.text.replaceAll(/adopted-edge\/etc\/varnish/g, '.') !== main.text)
      throw new Error('the author wrote something else')
  })
  fc.assert(property)
  t.end()
})

void t.test('running VCL whose includes do not match the listing is refused', (t) => {
  const main = (text: string) => ({ file: '/e/main.vcl', text: `vcl 4.1;\n${text}` })
  const part = (file: string, text = '') => ({ file, text })
  const table: readonly [parts: readonly VclPart[], reason: RegExp][] = [
    [[], /no source/],
    [[part('/e/main.vcl', ' \n')], /no source/],
    [[main('include "./a.vcl";')], /includes ".\/a.vcl", but the cache lists no such file/],
    [[main('include "./a.vcl";'), part('/f/a.vcl')], /but the cache lists \/f\/a.vcl there/],
    [[main(''), part('/e/a.vcl')], /nothing includes \/e\/a.vcl/],
    [[main('sub a { {"')], /Unterminated long-string/],
    [[main('\0')], /NUL/],
  ]
  for (const [parts, reason] of table) t.match(rebuild(parts, 'x'), { ok: false, reason })

  const found = rebuild(
    [
      main('include "lib/a.vcl"; include +glob "./c[ab]/*-?.vcl"; include "./c/\u00e4\t.vcl";'),
      ...[part('/usr/share/varnish/lib/a.vcl', '# one'), part('/e/ca/1-x.vcl', '# two')],
      ...[part('/e/cb/22-y.vcl', '# three'), part('/e/c/\u00e4\t.vcl', '# four')],
    ],
    'x',
  )
  t.match(found, { ok: true, bundle: { text: /# one\n.*# two\n.*# three\n.*# four/s } })
  t.same(found.ok && found.includes.map(({ name }) => name), [
    'x/usr/share/varnish/lib/a.vcl',
    'x/e/ca/1-x.vcl',
    'x/e/cb/22-y.vcl',
    'x/include-4.vcl',
  ])
  const label = main('sub vcl_recv {\n # vcl(no)\n return (vcl(shop));\n}')
  t.equal(run(findLabelUse([label])), '/e/main.vcl line 4')
  t.equal(run(findLabelUse([main('sub a { set req.http.vcl = "vcl(x)"; }')])), null)
  t.end()
})

function rebuild(parts: readonly VclPart[], name: string) {
  return run(rebuildInSteps(parts, name))
}

function run<T>(steps: Generator<void, T, void>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
