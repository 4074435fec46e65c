/** Every backend of a VCL is redirected to the test, and the rest of the VCL is unchanged. */
import fc from 'fast-check'
import t from 'tap'
import { findBackends, replaceBackends } from '../../src/vcl-tests/replace-backends.js'

const vcl = `vcl 4.1;
probe alive { .url = "/backend { .host }"; }
# backend commented { .host = "none"; }
backend default { .host = "www.example.com"; .port = "80"; .probe = alive; }
backend api {
  .host = {"api.example"};
\t.port = "8443"; .proxy_header = 1; .first_byte_timeout = 2s;
  .probe = { .url = "/"; .interval = 1s; }
  .via = default;
} sub vcl_recv { set req.http.x = "backend fake { }"; }
backend nobody none;
backend named { .path = "/run/origin.sock"; .host_header = "other.example"; }
`

void t.test('backend addresses are replaced, the rest stays', (t) => {
  const found = findBackends(vcl)
  t.same(
    found.map(({ name, isProbed, host }) => [name, isProbed, host]),
    [
      ['default', true, 'www.example.com'],
      ['api', true, 'api.example'],
      ['named', false, null],
    ],
  )
  const ports = new Map([
    ['default', 1001],
    ['api', 1002],
    ['named', 1003],
  ])
  const text = replaceBackends(vcl, found, ports)
  t.match(text, '.host = "127.0.0.1"; .port = "1001"; .host_header = "www.example.com"; }')
  t.match(text, '.host = "127.0.0.1"; .port = "1002"; .host_header = "api.example"; }')
  t.match(text, '.host_header = "other.example";  .host = "127.0.0.1"; .port = "1003"; }')
  for (const gone of ['/run/origin.sock', '8443', 'proxy_header', '.via'])
    t.notOk(text.includes(gone), gone)
  for (const kept of ['first_byte_timeout = 2s', '.probe = alive', 'interval = 1s'])
    t.ok(text.includes(kept), kept)
  const lines = vcl.split('\n')
  text.split('\n').forEach((line, at) => {
    if (!line.includes('127.0.0.1'))
      t.equal(line.trimEnd().length <= (lines[at] ?? '').length, true)
  })
  t.equal(text.indexOf('.first_byte_timeout'), vcl.indexOf('.first_byte_timeout') + added(text))
  t.end()
})

/** By how many characters the first backend grew. */
function added(text: string): number {
  return (text.split('\n')[3] ?? '').length - (vcl.split('\n')[3] ?? '').length
}

void t.test('backends that a test cannot replace are refused', (t) => {
  t.throws(() => findBackends('vcl 4.1;\ninclude "/etc/varnish/own.vcl";\n'), {
    message: 'it includes "/etc/varnish/own.vcl", whose backends a test cannot replace',
  })
  const many = Array.from({ length: 1001 }, (_, at) => `backend b${at} { .host = "a"; }\n`)
  t.throws(() => findBackends(many.join('')), /1001 backends, a test takes at most 1000/)
  t.end()
})

void t.test('no original address remains, and every line keeps its number', (t) => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/)
  const blank = fc.constantFrom(' ', '\n', '\t', ' # .host = "x";\n', ' /* } */ ')
  const block = fc
    .tuple(name, blank, blank, fc.boolean())
    .map(([word, before, behind, withPort]) => ({
      word: `b_${word}`,
      text: `backend b_${word}${before}{${behind}.host${before}=${behind}"author.example";${
        withPort ? `${before}.port = "4711";` : ''
      }${behind}}\n`,
    }))
  fc.assert(
    fc.property(fc.uniqueArray(block, { selector: ({ word }) => word }), (blocks) => {
      const source = ['vcl 4.1;\n', ...blocks.map(({ text }) => text)].join('')
      const found = findBackends(source)
      const ports = new Map(found.map(({ name: own }, at) => [own, at + 1]))
      const replaced = replaceBackends(source, found, ports)
      const again = findBackends(replaced)
      return (
        found.length === blocks.length &&
        replaced.split('\n').length === source.split('\n').length &&
        !replaced.includes('4711') &&
        again.length === found.length &&
        !replaced.includes('.host = "author.example"')
      )
    }),
  )
  t.end()
})
