/** The format of test files, and the errors about invalid ones. */
import fc from 'fast-check'
import t from 'tap'
import { readTestFile } from '../../src/test-files/read-test-file.js'
import { maxSteps, testFileLimitBytes } from '../../src/test-files/test-file.js'

function problemsOf(text: string): readonly string[] {
  const read = readTestFile(text)
  return read.ok ? [] : read.problems.map(({ line, message }) => `line ${line}: ${message}`)
}

void t.test('a complete file is parsed, with the line of each step', (t) => {
  const read = readTestFile(`name: pages
vcl: ../site.vcl
backends:
  default:
    - match: {url: {matches: ^/a}, method: GET, headers: {Accept: null}}
      respond: {status: 201, headers: {Set-Cookie: [a, b], X-N: 1}, body: text, delayMs: 5}
    - respond: {close: true}
steps:
  - request: {url: /a, httpVersion: 1.0}
    expect: {status: 200, handling: hit, backend: null}
  - repeat: 2
    steps:
      - ban: obj.status == 200
      - advance: 1.5
  - purge: http://www.example/a?b
  - {backend: default, health: sick}
`)
  if (!read.ok) throw new Error(read.problems.map(({ message }) => message).join())
  const { test } = read
  t.equal(test.name, 'pages')
  t.same(
    test.steps.map(({ number, line, action }) => [number, line, action.kind]),
    [
      [1, 9, 'request'],
      [2, 13, 'ban'],
      [3, 14, 'advance'],
      [4, 13, 'ban'],
      [5, 14, 'advance'],
      [6, 15, 'purge'],
      [7, 16, 'health'],
    ],
  )
  const [rule, closing] = test.backends.get('default') ?? []
  t.same(rule?.match.url, { kind: 'matches', text: '^/a' })
  t.same(rule?.match.headers, [['Accept', { kind: 'absent' }]])
  t.same(rule?.respond.headers, [
    ['Set-Cookie', 'a'],
    ['Set-Cookie', 'b'],
    ['X-N', '1'],
  ])
  t.equal(closing?.respond.close, true)
  const [first] = test.steps
  if (first?.action.kind !== 'request') throw new Error('the first step is a request')
  t.equal(first.action.request.httpVersion, '1.0')
  t.same([first.action.expect.status, first.action.expect.backend], [200, null])
  t.end()
})

void t.test('all errors are reported with their lines', (t) => {
  const cases: readonly (readonly [text: string, problem: RegExp])[] = [
    ['', /^line 1: the file is empty$/],
    ['- a', /^line 1: expected a map, got a list$/],
    ['steps: []', /^line 1: a test has at least one step$/],
    ['name: a', /^line 1: steps is missing/],
    ['stepz: []', /^line 1: "stepz" is not known here; known are name, vcl, backends, steps$/],
    ['steps:\n  - {}', /^line 2: a step has exactly one of request, ban, .* this one has none$/],
    ['steps:\n  - {ban: a, purge: b}', /^line 2: .* this one has ban and purge$/],
    ['steps:\n  - ban: obj.nothing == 1', /^line 2: ban: /],
    ['steps:\n  - purge: /a', /^line 2: purge: expected an absolute URL/],
    ['steps:\n  - advance: -1', /^line 2: advance: expected a number from 0 to/],
    ['steps:\n  - request: {}', /^line 2: request: url is missing/],
    ['steps:\n  - request: {url: "/a b"}', /^line 2: request.url: "\/a b" cannot stand/],
    [
      'steps:\n  - request: {url: /}\n    health: sick',
      /^line 3: health: it stands beside backend/,
    ],
    [
      'steps:\n  - request: {url: /}\n    expect:\n      handling: hitt',
      /^line 4: expect.handling: "hitt" is not one of hit, miss, pass, pipe, synth$/,
    ],
    [
      'steps:\n  - request: {url: /}\n    expect: {body: {matches: "("}}',
      /^line 3: expect.body.matches: .*[Uu]nterminated group/,
    ],
    [
      'steps:\n  - request: {url: /}\n    expect: {body: {matches: a, contains: b}}',
      /^line 3: expect.body: expected a text, \{matches: …\}, \{contains: …\} or null$/,
    ],
    ['backends: {b: [{respond: {status: 99}}]}\nsteps: [{advance: 1}]', /^line 1: backends.b.resp/],
    [
      'steps: [{request: {url: /, headers: {"a b": c}}}]',
      /^line 1: request.headers.a b: "a b" is not/,
    ],
    [
      'steps: [{request: {url: /, headers: {a: "b\\r\\nc: d"}}}]',
      /^line 1: request.headers.a: .* cannot/,
    ],
    ['steps: [{advance: 1}]\n---\nsteps: []', /^line 3: a file holds one test/],
    ['steps: [', /^line 1: /],
    ['a: &a [*a]', /^line 1: an alias/],
    [
      'steps: [{repeat: 2, steps: [{repeat: 2, steps: [{repeat: 2, steps: [{advance: 1}]}]}]}]',
      /^line 1: repeat: repeats stand in each other at most 2 deep$/,
    ],
  ]
  for (const [text, problem] of cases) t.match(problemsOf(text)[0], problem, text)
  t.equal(problemsOf('steps:\n  - {ban: 1}\n  - {advance: x}').length, 2)
  t.end()
})

void t.test('a file is limited in bytes and in steps', (t) => {
  const big = `# ${'x'.repeat(testFileLimitBytes)}`
  t.match(problemsOf(big)[0], /^line 1: the file has \d+ bytes; at most 65536 are allowed$/)
  const loop = 'steps: [{repeat: 1000, steps: [{repeat: 1000, steps: [{advance: 1}]}]}]'
  t.match(problemsOf(loop)[0], /after repetition there are 1000000 steps; 1000 are the most$/)
  const deep = `{a: ${'['.repeat(20_000)}`
  t.ok(problemsOf(deep).length > 0, 'deep nesting is refused')
  t.end()
})

void t.test('repeated steps are numbered in the order they run', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 })), {
        minLength: 1,
        maxLength: 12,
      }),
      (blocks) => {
        const steps = blocks.map(([repeat, inner]) => ({
          repeat,
          steps: Array.from({ length: inner }, () => ({ advance: 1 })),
        }))
        const read = readTestFile(JSON.stringify({ steps }))
        const count = blocks.reduce((sum, [repeat, inner]) => sum + repeat * inner, 0)
        if (count > maxSteps || !read.ok) return count > maxSteps && !read.ok
        const numbers = read.test.steps.map(({ number }) => number)
        return numbers.length === count && numbers.every((number, at) => number === at + 1)
      },
    ),
  )
  t.end()
})

void t.test('any file is either parsed or refused with its problems', (t) => {
  const step = fc.dictionary(
    fc.constantFrom('request', 'expect', 'ban', 'purge', 'advance', 'backend', 'health', 'repeat'),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(fc.array(step), fc.jsonValue(), (steps, backends) => {
      const read = readTestFile(JSON.stringify({ backends, steps }))
      return read.ok ? read.test.steps.length > 0 : read.problems.length > 0
    }),
  )
  fc.assert(fc.property(fc.string(), (text) => typeof readTestFile(text).ok === 'boolean'))
  t.end()
})
