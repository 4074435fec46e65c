/** What the VCL of an organization may not use, in every spelling; the real compiler accepts it, so the refusal is ours. */
import fc from 'fast-check'
import t from 'tap'
import { bundleVcl, type VclText } from '../../src/vcl/bundle.js'
import { lexVcl } from '../../src/vcl/lexer.js'
import { createCompiler } from '../support/compile-vcl.js'

const modules = new Set(['std', 'directors'])
const prologue = { groupId: 7, cacheKey: '0123456789abcdef0123456789abcdef' }
const may = 'VCL of an organization may not use'

interface Judged {
  readonly main: string
  readonly files?: Readonly<Record<string, string>>
  readonly modules?: ReadonlySet<string> | null
  readonly includes?: readonly string[]
  readonly amongOthers?: boolean
}

function bundle(judged: Judged): ReturnType<typeof bundleVcl> {
  const files = Object.entries(judged.files ?? {}).map(
    ([name, text]): [string, VclText] => [name, { name, text }], // as the group has them
  )
  return bundleVcl({ name: 'main.vcl', text: judged.main }, new Map(files), {
    allowedExternal: new Set(judged.includes),
    modules: judged.modules === undefined ? modules : judged.modules,
    prologue: judged.amongOthers === true ? prologue : undefined,
  })
}

function errorsOf(judged: Judged): readonly string[] {
  const result = bundle(judged)
  return result.ok ? [] : result.errors
}

/** Statements and declarations, each with its name in the error. The compiler accepts each of them. */
const forbiddenStatements: readonly [string, string][] = [
  ['set req.http.a = std.fileread("/etc/passwd");', 'std.fileread'],
  ['if (std.file_exists("/etc/passwd")) { return (pass); }', 'std.file_exists'],
  ['set req.http.a = std.getenv("HOME");', 'std.getenv'],
  ['std.syslog(1, "x");', 'std.syslog'],
  ['if (std.ban("obj.status != 0")) { return (pass); }', 'std.ban'],
  ['ban("obj.status != 0");', 'ban()'],
]
const forbiddenDeclarations: readonly [string, string][] = [
  ['import directors from "libvmod_directors.so";', 'import … from and import … as'],
  ['import std as s;', 'import … from and import … as'],
  ['import cookie;', 'the module cookie'],
  ['backend local { .path = "/run/x.sock"; .probe = { .url = "/"; } }', "a backend's .path"],
  ['backend local { .probe = { .url = "/"; } .path = "/run/x.sock"; }', "a backend's .path"],
]
/** Texts that resemble forbidden ones but are not. */
const allowedStatements: readonly string[] = [
  'set req.http.path = req.http.ban + req.http.import + req.http.std;',
  'std.log("std.fileread(ban(import x from y" + req.url);',
  'set req.http.a = "C{ int x; }C" + {"import std from "x"; ban("y")"};',
  'set req.http.a = """ C{ ban }C .path = import """;',
  'if (client.ip ~ path) { return (pass); }',
  'std.collect(req.http.cookie); # std.fileread("x") import x from y',
  'return (hash); /* ban("x"); C{ */',
  'set req.http.a = std.fnmatch("/*", req.url) + std.ban_error();',
]
const allowedDeclarations: readonly string[] = [
  'import directors;',
  'backend unused none;',
  'probe healthy { .url = "/path"; }',
  'backend other { .host = "127.0.0.1"; .probe = { .url = "/"; } }',
]

/** Actions and functions are case-insensitive. */
const caseless = new Set(
  ['std', 'ban', 'fileread', 'file_exists', 'getenv', 'syslog'].concat(['log', 'fnmatch']),
)
const gaps = fc.constantFrom(
  ...['', '', ' ', '\n', '\t', '\r\n', '/**/', '/* ban( */', '# x\n', '// import y\n', '/*"*/'],
)

/** The same tokens in another spelling: gaps, letter case, string notation. */
function spellings(text: string): fc.Arbitrary<string> {
  const tokens = [...lexVcl(text)]
  const isImport = tokens[0]?.text === 'import'
  const words = tokens.map(({ kind, text: written, value }) => {
    if (kind === 'identifier' && caseless.has(written) && !isImport)
      return fc.mixedCase(fc.constant(written))
    const isPlain = kind === 'string' && /^[\w/ !=.]+$/.test(value)
    return isPlain ? fc.constantFrom(`"${value}"`, `{"${value}"}`) : fc.constant(written)
  })
  return fc.tuple(fc.tuple(...words), fc.array(gaps, { minLength: 40, maxLength: 40 })).map(
    ([written, between]) =>
      written.reduce((whole, word, at) => {
        const gap = between[at % between.length] ?? ''
        const grows = /[\w-]$/.test(whole) && /^[\w-]/.test(word)
        return `${whole}${gap === '' && (grows || at === 0) ? ' ' : gap}${word}`
      }, '') + '\n',
  )
}

interface Written {
  readonly main: string
  readonly files: Readonly<Record<string, string>>
  readonly forbidden: readonly string[]
}

const used = 'sub vcl_init { new r = directors.round_robin(); r.add_backend(unused); }'

/** A whole VCL with these texts, part of it in an include. */
function texts(
  declarations: readonly string[],
  statements: readonly string[],
): fc.Arbitrary<readonly [string, string]> {
  const spelled = (all: readonly string[]): fc.Arbitrary<string> =>
    fc.tuple(...all.map(spellings)).map((parts) => parts.join(''))
  return fc.tuple(spelled(declarations), spelled(statements))
}

const forbiddenTexts: fc.Arbitrary<Written> = fc
  .tuple(
    fc.subarray([...forbiddenDeclarations], { maxLength: 1 }),
    fc.subarray([...forbiddenStatements]),
    fc.boolean(),
  )
  .filter(([declarations, statements]) => declarations.length + statements.length > 0)
  .chain(([declarations, statements, inInclude]) =>
    texts(
      declarations.map(([text]) => text),
      statements.map(([text]) => text),
    ).map(([top, body]) => {
      const uses = declarations.some(([text]) => text.startsWith('backend'))
        ? 'sub vcl_recv { set req.backend_hint = local; }\n'
        : ''
      const start = 'vcl 4.1;\nimport std;\nbackend default none;\n'
      const rest = `${top}${uses}sub vcl_recv { std.log("x");\n`
      const end = '}\n'
      return {
        main: inInclude
          ? `${start}${rest}include "part.vcl";${end}`
          : `${start}${rest}${body}${end}`,
        files: inInclude ? { 'part.vcl': body } : {},
        forbidden: [...declarations, ...statements].map(([, name]) => name),
      }
    }),
  )

const allowedTexts: fc.Arbitrary<string> = texts(allowedDeclarations, allowedStatements).map(
  ([top, body]) =>
    `vcl 4.1;\nimport std;\nbackend default none;\nacl path { "127.0.0.1"; }\n${top}${used}
sub vcl_init { r.add_backend(other); }
backend probed { .host = "127.0.0.1"; .probe = healthy; }
sub vcl_backend_fetch { set bereq.backend = probed; }
sub vcl_recv {\n${body}}\n`,
)

void t.test('forbidden constructs are refused in every spelling, and nothing else is', (t) => {
  const refused = fc.property(forbiddenTexts, ({ forbidden, ...written }) => {
    const errors = errorsOf(written)
    for (const name of forbidden)
      if (!errors.some((error) => error.includes(`${may} ${name}`)))
        throw new Error(`${name} was let through: ${errors.join('\n')}`)
    if (errors.length !== forbidden.length) throw new Error(errors.join('\n'))
  })
  const allowed = fc.property(allowedTexts, (main) => {
    const errors = errorsOf({ main })
    if (errors.length > 0) throw new Error(errors.join('\n'))
  })

  fc.assert(refused, { numRuns: 1500 })
  fc.assert(allowed, { numRuns: 500 })
  t.end()
})

void t.test('the compiler accepts the same texts, so the refusal is ours', async (t) => {
  const compiler = await createCompiler()
  t.teardown(compiler.remove)
  const compile = async (main: string, files: Written['files'] = {}): Promise<void> => {
    const result = bundle({ main, files, modules: null })
    if (!result.ok) throw new Error(result.errors.join('\n'))
    const { ok, text } = await compiler.compile(result.text)
    if (!ok) throw new Error(text)
  }

  await fc.assert(
    fc.asyncProperty(forbiddenTexts, ({ main, files }) => compile(main, files)),
    { numRuns: 16 },
  )
  await fc.assert(
    fc.asyncProperty(allowedTexts, (main) => compile(main)),
    { numRuns: 4 },
  )
})

void t.test('an error contains file, line and position, also inside an include', (t) => {
  const main = 'vcl 4.1;\nimport std;\nsub vcl_recv { include "a.vcl"; }\n'
  const files = { 'a.vcl': '# first\n  set req.http.x =\n\tstd /* . */ . fileread("x");\n' }

  t.same(errorsOf({ main, files }), [
    `a.vcl line 3 pos 9: ${may} std.fileread: it reaches the host of the cache`,
  ])
  t.same(errorsOf({ main, files, modules: null }), [], "the system administrator's VCL may")
  t.end()
})

void t.test('only listed modules may be imported, by their plain name', (t) => {
  const errorOf = (text: string): string | undefined => errorsOf({ main: `vcl 4.1; ${text}` })[0]
  const refused: readonly [string, RegExp][] = [
    ['import vtc;', /pos 17: .* the module vtc: allowed: directors, std/],
    ['import/**/Std;', /the module Std/],
    ['import "std";', /the module "std"/],
    ['sub a { import vtc; }', /the module vtc/],
    ['import std from "x";', /import … from/],
    ['import std as x;', /import … as/],
    ['import std /* */ from {"/x"};', /import … from/],
    ['IMPORT vtc;', /the module vtc/],
    ['import', /^$/],
  ]
  for (const [text, expected] of refused) t.match(errorOf(text) ?? '', expected, text)
  t.equal(errorOf('import std; import directors; set req.http.import = "a";'), undefined)
  t.match(errorsOf({ main: 'vcl 4.1; import std;', modules: new Set() })[0], /none is/)
  t.end()
})

void t.test('inline C is refused wherever the compiler would recognize it', (t) => {
  for (const text of [
    'C{ }C',
    'sub a { C{ int x; }C }',
    'set x = 1C{ }C',
    'import std;C{\n}C',
    ';C{"}C',
  ])
    t.match(errorsOf({ main: `vcl 4.1; ${text}` })[0], `${may} inline C`, text)
  for (const text of ['"C{ }C"', '# C{ }C', '/* C{ }C */', '{" C{ }C "}', 'xC{ }', 'c{ }c', 'C {}'])
    t.same(errorsOf({ main: `vcl 4.1; ${text}` }), [], text)
  t.end()
})

void t.test('the .path of a backend is distinguished from other paths', (t) => {
  const errorOf = (text: string): string | undefined => errorsOf({ main: `vcl 4.1; ${text}` })[0]
  for (const text of [
    'backend a { .path = "x"; }',
    'backend a { .host = "x"; .path = "x"; }',
    'backend a { .probe = { .url = "/"; } . /* */ path = {"x"}; }',
    'sub a { set req.backend_hint = { .path = "x"; }; }',
    'director d random { { .backend = { .path = "x"; } } }',
  ])
    t.match(errorOf(text), /a backend's \.path: it reaches sockets/, text)
  for (const text of ['set req.http.path = "x";', 'probe p { .url = ".path"; }', 'call path;'])
    t.equal(errorOf(text), undefined, text)
  t.end()
})

void t.test('files of the cache may be included by configured name, never by path', (t) => {
  const includes = ['shared.vcl', '/etc/varnish/all.vcl']
  const main = 'vcl 4.1; include "shared.vcl"; include\n{"/etc/varnish/all.vcl"};'

  t.same(errorsOf({ main, includes }), [
    `main.vcl line 2 pos 1: ${may} an absolute include: it reaches the host of the cache`,
  ])
  t.same(errorsOf({ main, includes, modules: null }), [])
  t.match(errorsOf({ main: 'vcl 4.1; include "/etc/passwd";' })[0], /Cannot include/)
  const own = { main: 'vcl 4.1; include "/a.vcl";', files: { '/a.vcl': 'import std;' } }
  t.same(errorsOf(own), [], "a group's file of that name is not the cache's")
  t.end()
})

void t.test('text inside """ that release 6.0 would parse is checked as well', (t) => {
  const among = (text: string) => ({ main: `vcl 4.1; import std; ${text}` })
  const refused: readonly [string, string][] = [
    ['set req.http.x = """ " + std.fileread("/etc/passwd") + " """;', 'std.fileread'],
    ['set req.http.x = """ "; C{ int x; }C set req.http.x = " """;', 'inline C'],
    ['set req.http.x = """ "; } include "x"; sub a { set req.http.x = " """;', 'an include'],
  ]
  for (const [text, name] of refused) {
    const [error = ''] = errorsOf(among(text))
    t.ok(error.includes(`${may} ${name}`), error)
    t.match(error, /release 6\.0/)
  }
  const spread =
    'set req.http.y = """a""" + """""" + "" "";\n\tset req.http.x = """ " + std.getenv("x") + " """;'
  t.match(errorsOf(among(spread)), [/^main\.vcl line 2 pos 34: .* std\.getenv/])
  t.same(errorsOf(among('set req.http.x = """a\n" + std.fileread("x") + "b""";')), [], 'no code')
  t.same(errorsOf(among('set req.http.x = """a "b" std.fileread""";')), [])
  t.end()
})

void t.test('no VCL of a group with domains may use return (vcl(…))', (t) => {
  const main = 'vcl 4.1; sub vcl_recv { return/**/( vcl\n( a ) ); }'
  for (const rules of [modules, null]) {
    const [error] = errorsOf({ main, modules: rules, amongOthers: true })
    t.match(error, /^main\.vcl line 2 pos 1: return \(vcl\(…\)\) is not for groups with domains/)
  }
  t.end()
})

void t.test("only the system administrator's VCL may use labels", (t) => {
  const main = 'vcl 4.1; sub vcl_recv { return (vcl(a)); }'
  t.same(errorsOf({ main, modules: null }), [])
  t.same(errorsOf({ main }), [
    `main.vcl line 1 pos 36: ${may} return (vcl(…)): labels on the cache are of other groups`,
  ])
  // The compiler would reveal anywhere whether a name is that of a label.
  const named = (name: string) => `vcl 4.1; sub vcl_recv { set req.http.a = ${name}; }`
  for (const name of ['cf-l-12', 'cf-s-3'])
    t.same(errorsOf({ main: named(name) }), [
      `main.vcl line 1 pos 42: ${may} the name ${name}: it is that of a label on the cache`,
    ])
  for (const name of ['req.http.cf-l-12', 'cf-x-1', '"cf-l-12"', 'cf-lang'])
    t.same(errorsOf({ main: named(name) }), [])
  t.same(errorsOf({ main: named('cf-l-12'), modules: null }), [])
  t.end()
})
