/** How a simulated cache judges VCL: where it refuses one, and what it reports of an accepted one. */
import t from 'tap'
import { compileVcl } from '../../src/agent/simulated/compile-vcl.js'

const context = { labels: new Set(['l-shop']), refusesUnused: true, hasNoneBackend: true }
const begin = 'vcl 4.1;\nbackend default none;\n'

void t.test('a refusal has the position and shape of a compiler message', (t) => {
  const refused: readonly (readonly [source: string, refusal: RegExp])[] = [
    ['', /^VCL version declaration missing\n/],
    ['vcl 4.1;', /^No backends/],
    [
      `${begin}sub vcl_recv {`,
      /^Expected a name got end of input\n\('<vcl\.inline>' Line 3 Pos 14\)/,
    ],
    [`${begin}}`, /^Expected one of .*\n.*\n\('<vcl\.inline>' Line 3 Pos 1\)\n\}\n#\n\n$/],
    [`${begin}/* é */ sub é`, /Line 3 Pos 14\)\n\/\* é \*\/ sub é\n-{12}#\n/],
    [`${begin}include "a";`, /no files to include\n\('<vcl\.inline>' Line 3 Pos 1\)/],
    [
      `${begin}sub vcl_recv {\n\tset req.http.a = "b"\n\treturn (pass);\n}`,
      /^Expected ';' got 'return'\n\('<vcl\.inline>' Line 5 Pos 9\)\n return \(pass\);\n-######-/,
    ],
    [
      `${begin}sub vcl_recv { call a; }`,
      /^Symbol not found: 'a'\n\('<vcl\.inline>' Line 3 Pos 21\)/,
    ],
    [`${begin}sub a { }`, /^Unused sub a, defined:\n\('<vcl\.inline>' Line 3 Pos 5\)/],
    [`${begin}sub vcl_recv { return (vcl(l-nope)); }`, /^Symbol not found: 'l-nope'/],
  ]
  for (const [source, refusal] of refused) t.match(compileVcl(source, context), { refusal }, source)
  t.end()
})

void t.test('definitions below their use are found and reported', (t) => {
  const source = `${begin}import directors;
sub vcl_init { new d = directors.round_robin(); d.add_backend(late); return (fail("why")); }
sub vcl_recv { call mine; if (client.ip ~ list) { return (vcl(l-shop)); } set req.http.a = std.x(E); }
sub mine { set req.backend_hint = d.backend(); }
import std;
acl list { "127.0.0.1"; }
probe p { .window = 5; .threshold = 2; }
backend late { .host = "h"; .probe = p; }
`
  t.same(compileVcl(source, context), {
    backends: [
      { name: 'd', type: 'round-robin', probe: undefined, members: ['late'] },
      { name: 'late', type: 'backend', probe: { window: 5, threshold: 2 }, members: undefined },
    ],
    labels: ['l-shop'],
    initFailure: 'why',
    warnings: '',
  })
  t.end()
})
