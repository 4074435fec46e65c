/** What the views of files decide in Node: includes, places of errors, line ends, uploads, running versions, colours. */
import fc from 'fast-check'
import t from 'tap'
import { compareLines } from '../../src/page/editor/compare-lines.js'
import { findIndent } from '../../src/page/editor/find-indent.js'
import { columnAt } from '../../src/page/editor/column-at.js'
import { vcl } from '../../src/page/editor/vcl-language.js'
import { isSameText, restoreLineEnds } from '../../src/page/views/file/line-ends.js'
import { quotePattern, readIncludes } from '../../src/page/views/file/read-includes.js'
import { buildTree, listNames } from '../../src/page/views/file/read-tree.js'
import { readProblems } from '../../src/page/views/file/read-problems.js'
import { findRunningVersions, formatWhere } from '../../src/page/views/file/running-versions.js'
import { findUsers, filterFiles } from '../../src/page/views/files/filter-files.js'
import { readUpload } from '../../src/page/views/files/read-upload.js'

void t.test('includes are found, except in comments and strings', (t) => {
  const text = `
    include "one.vcl"; # include "a.vcl";
    // include "b.vcl";
    /* include "c.vcl"; */ include
      "two.vcl";
    set req.http.X = {"include "d.vcl";"} + """include "e.vcl";""";
    set req.http.Y = "include "; include "one.vcl";
  `
  t.same(readIncludes(text), ['one.vcl', 'two.vcl'])
  t.equal(quotePattern('a*b,c\\d'), 'a\\*b\\,c\\\\d')
  t.end()
})

void t.test('any text is read to its end', (t) => {
  const words = fc.constantFrom(
    'include',
    ' "',
    '"',
    '{"',
    '"}',
    '/*',
    '*/',
    '#',
    '\n',
    'x.vcl',
    ';',
  )
  fc.assert(
    fc.property(fc.array(words, { maxLength: 200 }), (text) => {
      for (const name of readIncludes(text.join(''))) t.ok(name !== '' && !name.includes('"'))
    }),
  )
  t.end()
})

void t.test('a message of several lines is shown whole, without the quoted source line', (t) => {
  const told = [
    'shop.vcl line 2 pos 1: Expected one of',
    "\t'acl', 'sub',  or 'vcl'",
    "Found: 'sett' at",
    'sett x; import std;',
    '####---------------',
    'shop.vcl line 9 pos 5: Unused sub a, defined:',
    'sub a {',
    '----#--',
    '(agent edge)',
  ].join('\n')
  t.same(
    readProblems(told, new Set(['shop.vcl'])).map(({ message }) => message),
    ["Expected one of 'acl', 'sub', or 'vcl' Found: 'sett'", 'Unused sub a, defined:'],
  )
  t.end()
})

void t.test('a long inserted part is one difference, without the unchanged text around it', (t) => {
  const line = fc.constantFrom(
    'a\n',
    'b\n',
    '\n',
    'a long line\n',
    'a wrong line\n',
    '}',
    '\u{1f600}\n',
  )
  const text = fc.array(line, { maxLength: 40 }).map((lines) => lines.join(''))
  fc.assert(
    fc.property(text, text, (a, b) => {
      let made = ''
      let at = 0
      for (const { fromA, toA, fromB, toB } of compareLines(a, b)) {
        made += a.slice(at, fromA) + b.slice(fromB, toB)
        at = toA
      }
      t.equal(made + a.slice(at), b, 'the differences transform one text into the other')
    }),
  )
  const before = 'vcl 4.0;\nimport std;\nsub a { }\n'
  const long = Array.from({ length: 300 }, (_, at) => `sub long_${at} { }\n`).join('')
  const differences = compareLines(
    `${before}# end\n`,
    `vcl 4.1;\nimport std;\nsub a { }\n${long}# end\n`,
  )
  t.same(
    differences.map(({ fromA, toA, fromB, toB }) => [fromA, toA, toB - fromB]),
    [
      [6, 7, 1],
      [before.length, before.length, long.length],
    ],
  )
  t.end()
})

void t.test('only places in the submitted files are reported', (t) => {
  const told = [
    'shop.vcl line 3 pos 5: Symbol not found: line 1 pos 1: x',
    'other.vcl line 1 pos 1: a line of the text',
    'at a file line 2 pos 9',
    '(agent edge)',
  ].join('\n')
  const message = 'Symbol not found: line 1 pos 1: x'
  t.same(readProblems(told, new Set(['shop.vcl', 'a file'])), [
    { file: 'shop.vcl', line: 3, position: 5, message },
    { file: 'a file', line: 2, position: 9, message },
  ])
  t.same(readProblems('no agent is Running to compile on', new Set(['shop.vcl'])), [])
  t.end()
})

void t.test('a position of the compiler is a column, with tabs to the next eighth', (t) => {
  t.equal(columnAt('abc', 2), 1)
  t.equal(columnAt('\tset', 9), 1)
  t.equal(columnAt('ab\tset', 10), 4)
  t.equal(columnAt('abc', 99), 3)
  t.end()
})

void t.test('line ends are preserved', (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', ''), { minLength: 1 }), (lines) => {
      for (const end of ['\n', '\r\n']) {
        const before = lines.join(end)
        t.equal(restoreLineEnds(lines.join('\n'), before), before)
        t.ok(isSameText(before, lines.join('\n')))
      }
    }),
  )
  t.not(isSameText('a', 'b'), true)
  t.end()
})

void t.test('an upload is text if possible, or else its bytes', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const { source, encoded } = readUpload(bytes)
      t.ok(Buffer.from(source, encoded ? 'base64' : 'utf8').equals(bytes))
    }),
  )
  const long = new Uint8Array(100_001).fill(255)
  t.equal(readUpload(long).source, Buffer.from(long).toString('base64'))
  t.equal(readUpload(Buffer.from('\u{feff}vcl')).encoded, false)
  t.equal(readUpload(Buffer.from('a\0')).encoded, true)
  t.end()
})

void t.test('the running versions are found from the group’s history, for each cache', (t) => {
  const group = {
    id: 1,
    name: 'shop',
    root: true,
    stateName: 'Active',
    mainVCL: { id: 7, name: 'shop.vcl' },
    includes: [{ id: 8, name: 'shared.vcl' }],
    agentStates: [
      { agent: { id: 1, name: 'a' }, state: 'applied', revision: 3 },
      { agent: { id: 2, name: 'b' }, state: 'failed', revision: 2 },
      { agent: { id: 3, name: 'c' }, state: 'wanted', revision: null },
      { agent: { id: 4, name: 'd' }, state: 'applied', revision: 3 },
    ],
  }
  const use = (revision: number | null, version: number) => ({
    revision,
    mainVCL: { id: 7, version: 1 },
    includes: [{ id: 8, version }],
  })
  const history = [use(3, 5), use(null, 4), use(2, 2)]
  const running = findRunningVersions(8, [{ group, history }])
  t.same(running, [
    { group: 'shop', version: 5, agents: ['a', 'd'] },
    { group: 'shop', version: 2, agents: ['b'] },
  ])
  t.same(running.map(formatWhere), ['a, d (shop)', 'b (shop)'])
  t.equal(
    formatWhere({ group: 'shop', version: 1, agents: ['a', 'b', 'c', 'd', 'e'] }),
    'a, b, c and 2 more (shop)',
  )
  const without = { name: 'of the console', mainVCL: null, includes: [], tests: [] }
  t.same(
    [...findUsers([{ ...group, tests: [{ id: 9, name: 'shop.test.yaml' }] }, without])],
    [
      [7, ['shop']],
      [8, ['shop']],
      [9, ['shop']],
    ],
  )
  t.end()
})

void t.test('files are filtered by name and type', (t) => {
  const files = [
    { name: 'Shop.vcl', fileType: 1 },
    { name: 'shared.vcl', fileType: 2 },
  ] as const
  t.same(filterFiles(files, { text: 'shop', type: '' }), [files[0]])
  t.same(filterFiles(files, { text: '', type: '2' }), [files[1]])
  t.end()
})

void t.test('VCL is highlighted, also over several lines', (t) => {
  const text = 'sub vcl_recv { # why\n set req.http.A = {"a\n sub"} + 1h; /* sub\n */ }'
  const seen: string[] = []
  vcl.parser.parse(text).iterate({
    enter: ({ from, to, name, node }) => {
      if (!node.firstChild && to > from) seen.push(`${name} ${text.slice(from, to)}`)
    },
  })
  t.same(
    seen.filter((one) => !one.startsWith('operator')),
    [
      ...['keyword sub', 'atom vcl_recv', 'comment # why', 'keyword set'],
      ...['propertyName req.http.A', 'string {"a', 'string  sub"}', 'number 1h'],
      ...['comment /* sub', 'comment  */'],
    ],
  )
  t.end()
})

void t.test('a tree shows each file’s includes, loops once, and missing files as leaves', (t) => {
  const texts = {
    'main.vcl': ['a.vcl', 'b.vcl'],
    'a.vcl': ['c.vcl'],
    'c.vcl': ['a.vcl', 'gone.vcl'],
  }
  const files = new Map(
    Object.entries({ ...texts, 'b.vcl': [] }).map(([name, names], at) => [
      name,
      { id: at + 1, text: names.map((one) => `include "${one}";`).join('\n') },
    ]),
  )
  const tree = buildTree('main.vcl', files)
  t.same(listNames(tree), [...['main.vcl', 'a.vcl', 'c.vcl', 'a.vcl', 'gone.vcl', 'b.vcl']])
  t.match(tree.children[0]?.children[0]?.children, [
    { name: 'a.vcl', id: 2, children: [] },
    { name: 'gone.vcl', id: null },
  ])
  const wide = new Map(
    Array.from({ length: 40 }, (_, at) => [
      `${at}.vcl`,
      { id: at, text: Array.from({ length: 40 }, (_, to) => `include "${to}.vcl";`).join('\n') },
    ]),
  )
  t.equal(listNames(buildTree('0.vcl', wide)).length, 500, 'the tree is bounded')
  t.end()
})

void t.test('the editor continues with the indentation of the file', (t) => {
  t.equal(findIndent(''), '    ')
  t.equal(findIndent('sub vcl_recv {\n}\n'), '    ')
  t.equal(findIndent('sub vcl_recv {\n  if (a) {\n    return (pass);\n  }\n}\n'), '  ')
  t.equal(findIndent('sub vcl_recv {\r\n\tif (a) {\r\n\t\treturn (pass);\r\n\t}\r\n}\r\n'), '\t')
  t.equal(
    findIndent('/*\n * A comment.\n */\nsub vcl_recv {\n        return (pass);\n}\n'),
    '        ',
  )
  t.equal(findIndent('sub vcl_recv {\n\tset req.http.A = "a" +\n\t    "b";\n}\n'), '\t')
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) =>
      /^(?:\t| {2,8})$/.test(findIndent(text)),
    ),
  )
  t.end()
})
