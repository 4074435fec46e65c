/** Compiler messages mapped to the author's files: recorded replies of a real cache, and the real compiler. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { describeFailures, translateError } from '../../src/vcl/compiler-text.js'
import { bundleVcl, type Bundle, type VclText } from '../../src/vcl/bundle.js'
import { lexVcl } from '../../src/vcl/lexer.js'
import { vclFilesOf } from '../support/arbitraries.js'
import { createCompiler } from '../support/compile-vcl.js'
import { root } from '../support/root.js'

const recordings = join(root, 'test/fixtures/compiler/7.1.1')

function bundled(main: VclText, includes: ReadonlyMap<string, VclText> = new Map()): Bundle {
  const result = bundleVcl(main, includes, { allowedExternal: new Set(), modules: null })
  if (!result.ok) throw new Error(result.errors.join('\n'))
  return result
}

/** A header line, then `=== <file name>` and its text for each file, finally `=== answer <status>` and the engine's reply. */
function readRecording(name: string): { bundle: Bundle; answer: string } {
  const parts = readFileSync(join(recordings, `${name}.txt`), 'utf8')
    .split(/^=== /m)
    .slice(1)
  const files = parts.map((part) => {
    const [head = '', ...lines] = part.split('\n')
    const [, file = '', cut] = /^(.*?)( \(no line feed at its end\))?$/.exec(head) ?? []
    const text = lines.join('\n')
    return { name: file, text: cut === undefined ? text : text.slice(0, -1) }
  })
  const answer = files.pop()?.text ?? ''
  const [main = { name: '', text: '' }, ...others] = files
  return { bundle: bundled(main, new Map(others.map((file) => [file.name, file]))), answer }
}

const told: Record<string, string> = {
  'missing-semicolon': `main.vcl line 3 pos 35: Expected ';' got '}'
sub vcl_recv { set req.http.a = 1 }
----------------------------------#`,
  'unknown-symbol-in-include': `lib.vcl line 3 pos 26: Symbol not found: 'nonsense.symbol'
        set req.http.a = nonsense.symbol;
-------------------------###############-`,
  'behind-an-include-on-its-line': `main.vcl line 3 pos 67: Symbol not found: 'nonsense.symbol'
        sub vcl_recv { set req.http.a   = nonsense.symbol; }
------------------------------------------###############---`,
  'message-below': `main.vcl line 3 pos 20: Cannot be set in subroutine 'vcl_recv'.
sub vcl_recv { set resp.http.x = "y"; }
-------------------###########---------`,
  'called-from': `lib.vcl line 2 pos 13: Cannot be set from subroutine 'vcl_recv'.
sub b { set resp.http.x = "y"; }
------------###########---------
...in subroutine "b"
at lib.vcl line 2 pos 5
sub b { set resp.http.x = "y"; }
----#---------------------------
...called from "a"
at lib.vcl line 1 pos 14
sub a { call b; }
-------------#---
...called from "vcl_recv"
at main.vcl line 4 pos 21
sub vcl_recv { call a; }
--------------------#---
...which is the "vcl_recv" subroutine`,
  'two-lines': `main.vcl line 3 pos 20: Cannot be set in subroutine 'vcl_recv'.
sub vcl_recv { set beresp
-------------------######
[...]
at main.vcl line 5 pos 6
http.x = 1;
######-----`,
  'redefined-across-files': `lib.vcl line 1 pos 5: Subroutine 'a' redefined
sub a { }
----#----
Previously defined here:
at main.vcl line 3 pos 5
sub a { }
----#----`,
  'no-backend': `main.vcl: No backends or directors found in VCL program, at least one is necessary.`,
  'no-version': `main.vcl line 1 pos 1: VCL version declaration missing
Update your VCL to Version 4 syntax, and add
	vcl 4.1;
on the first line of the VCL files.
backend default none;
#######--------------`,
  'unused-sub': `main.vcl line 3 pos 5: Unused sub unused, defined:
sub unused { }
----######----`,
  'inline-c': `main.vcl line 3 pos 16: Inline-C not allowed
sub vcl_recv { C{ int i; }C }
---------------############--`,
  'unknown-label': `main.vcl line 3 pos 28: Symbol not found: 'l-shop'
sub vcl_recv { return (vcl(l-shop)); }
---------------------------######-----`,
  'unknown-host': `main.vcl line 2 pos 27: Backend host '"nosuch.invalid"' could not be resolved to an IP address:
	Name or service not known
(Sorry if that error message is gibberish.)
backend default { .host = "nosuch.invalid"; }
--------------------------################---
In backend specification starting at:
at main.vcl line 2 pos 1
backend default { .host = "nosuch.invalid"; }
#######--------------------------------------`,
  'unknown-vmod': `main.vcl line 2 pos 8: Could not find VMOD nosuch
import nosuch;
-------######-`,
  regex: `main.vcl line 3 pos 30: Regexp compilation error:
missing closing parenthesis
sub vcl_recv { if (req.url ~ "(") { } }
---------------------------------------`,
  'end-of-input': `main.vcl line 3 pos 29: Expected ';' got 'vcl'
behind its end:
vcl 4.0;
###-----`,
  'version-in-include': `lib.vcl line 1 pos 1: VCL version 4.1 higher than the top level version 4.0
vcl 4.1;
########`,
  'init-failure': 'main.vcl: vcl_init failed: because-of-init',
  'init-failure-without-message': 'main.vcl: vcl_init failed: Failed from VCL',
  'symbol-twice': `main.vcl line 3 pos 16: Symbol not found: 'std.log'
sub vcl_recv { std.log("a"); }
---------------#######--------
Symbol not found.
at main.vcl line 3 pos 23
sub vcl_recv { std.log("a"); }
----------------------#-------`,
  'warning-then-error': `main.vcl line 4 pos 20: Cannot be set in subroutine 'vcl_recv'.
sub vcl_recv { set resp.http.x = "y"; }
-------------------###########---------`,
  'bad-field': `main.vcl line 2 pos 41: Unknown field: 'nosuch' at
backend default { .host = "127.0.0.1"; .nosuch = "1"; }
----------------------------------------######---------
In backend specification starting at:
at main.vcl line 2 pos 1
backend default { .host = "127.0.0.1"; .nosuch = "1"; }
#######------------------------------------------------`,
  'limit-of-vcls': `Too many (2) VCLs already loaded
(See max_vcl and max_vcl_handling parameters)`,
}

void t.test('recorded replies of varnishd 7.1.1 are mapped to the author’s files', (t) => {
  const names = readdirSync(recordings).map((name) => name.replace('.txt', ''))
  t.same(names.toSorted(), Object.keys(told).toSorted(), 'each recording has an expectation')
  for (const name of names) {
    const { bundle, answer } = readRecording(name)
    t.equal(translateError(answer, bundle.sourceMap), told[name], name)
  }
  t.end()
})

void t.test(
  'the real compiler’s error about a symbol is mapped to where its author wrote it',
  async (t) => {
    const compiler = await createCompiler()
    t.teardown(compiler.remove)
    const sound = fc.constantFrom(
      ...['sub vcl_recv { set req.http.a = "é"; }', '/* é\n\t */', '# end\n', '\tsub vcl_hit\t{ }'],
    )
    const files = vclFilesOf(sound)
    const bad = 'sub vcl_deliver\t{ set resp.http.a\t= nonsense_symbol; }'
    const property = fc.asyncProperty(files, fc.nat(), fc.nat(), async (written, at, which) => {
      const all = [written.main, ...written.includes.values()]
      const chosen = all[which % all.length]?.name
      const broken = all.map(({ name, text }): VclText => {
        const clean = text.replaceAll('é=', '').replaceAll('include "";', '')
        if (name !== chosen) return { name, text: clean }
        // After a statement or a block, at the top level.
        const gaps = [...clean.matchAll(/(?<=[;}]|^)(?=\s|include|$)/g)].map(({ index }) => index)
        const where = gaps[at % Math.max(1, gaps.length)] ?? 0
        return { name, text: `${clean.slice(0, where)}${bad}${clean.slice(where)}` }
      })
      const [main = written.main, ...others] = broken
      const version = { name: main.name, text: `vcl 4.1;\n\tbackend default none; ${main.text}` }
      const bundle = bundleVcl(version, new Map(others.map((file) => [file.name, file])), {
        allowedExternal: new Set(),
        modules: null,
      })
      fc.pre(bundle.ok && bundle.text.includes(bad))
      const { text } = await compiler.compile(bundle.text)
      fc.pre(text.includes("Symbol not found: 'nonsense_symbol'"))

      const told = translateError(text, bundle.sourceMap)

      const place = [version, ...others].flatMap((file) =>
        [...lexVcl(file.text)]
          .filter((token) => token.text === 'nonsense_symbol')
          .map(({ line, position }) => `${file.name} line ${line} pos ${position}: `),
      )
      if (!told.startsWith(`${String(place[0])}Symbol not found`))
        throw new Error(`${told}\n${place.join()}\n${bundle.text}`)
    })

    await fc.assert(property, { numRuns: 40 })
  },
)

void t.test(
  'agents with the same error share a paragraph that lists their releases, the most frequent first',
  (t) => {
    const { bundle, answer } = readRecording('missing-semicolon')
    const init = readRecording('init-failure').answer

    const text = describeFailures(
      [
        { agentName: 'edge-1', release: 'Varnish 7.1.1', error: init },
        { agentName: 'edge-3', release: 'Vinyl 9.0.1', error: answer },
        { agentName: 'edge-2', release: 'Vinyl 9.0.1', error: answer },
        { agentName: 'edge-4', release: 'Varnish 6.0.17', error: answer },
      ],
      bundle.sourceMap,
    )

    const [first, second, ...others] = text.split('\n\n')
    t.match(first, /^main\.vcl line 3 pos 35: Expected ';'[^]*\n\(.*\)$/)
    const whose = '(Varnish 6.0.17: agent edge-4; Vinyl 9.0.1: agents edge-2, edge-3)'
    t.equal(first?.split('\n').at(-1), whose)
    t.equal(second, 'main.vcl: vcl_init failed: because-of-init\n(Varnish 7.1.1: agent edge-1)')
    t.same(others, [])
    t.end()
  },
)

void t.test('names on the cache are replaced by the author’s file name', (t) => {
  const { sourceMap } = bundled({ name: 'shop $&.vcl', text: 'vcl 4.1;' })
  const failures = ['cf-1-0123abcd-4', 'cf-1-0123abcd-5'].map((name, at) => ({
    agentName: `edge-${at}`,
    release: null,
    error: `Already a VCL named ${name}`,
  }))

  const text = describeFailures(failures, sourceMap)

  t.equal(text, 'Already a VCL named shop $&.vcl\n(agents edge-0, edge-1)')
  t.end()
})

void t.test('a line that only resembles a position is passed on unchanged', (t) => {
  const { sourceMap } = bundled({ name: 'main.vcl', text: 'vcl 4.1;' })
  for (const line of ["('' Line x Pos 1)", "('<vcl.inline>' Line 1 Pos 9) and more)", "('none)"])
    t.equal(translateError(`Message from VCC-compiler:\n${line}\n`, sourceMap), `main.vcl: ${line}`)
  t.end()
})

void t.test('long lines, many errors and many agents are shortened', (t) => {
  const filler = 'x'.repeat(5000)
  const line = `/* ${filler} */ set a = b; /* ${filler} */`
  const marks = line.replace(/[^]/g, '-').replace(/-(?=-{5010}$)/, '#')
  const error = `Message from VCC-compiler:\nBad\n('<vcl.inline>' Line 1 Pos 9)\n${line}\n${marks}\n`
  const { sourceMap } = bundled({ name: 'main.vcl', text: line })

  t.ok(translateError(error, sourceMap).length < 500)
  t.match(translateError(error, sourceMap), /set a = b/)
  const failures = Array.from({ length: 500 }, (_, at) => ({
    agentName: `edge-${at}`,
    release: `Varnish ${at % 25}.0.1`,
    error: at < 400 ? 'the same' : `error ${at} ${filler}`,
  }))
  const text = describeFailures(failures, sourceMap)
  t.match(text, /^the same\n\(Varnish 0\.0\.1: agents edge-0, [^)]*; and 15 more releases\)\n\n/)
  t.match(text, /\(and 91 other errors\)$/)
  t.ok(text.length < 100_000)
  t.end()
})

void t.test('6.0 and 6.5 describe a failed vcl_init and name the built-in VCL differently', (t) => {
  const { sourceMap } = bundled({
    name: 'main.vcl',
    text: 'vcl 4.1;\nbackend default none;\nsub vcl_recv {\n',
  })
  const tell = (answer: string): string => translateError(answer, sourceMap)
  t.equal(
    tell('VCL compiled.\nVCL "cf-1-01234567-1" Failed initialization\n'),
    'main.vcl: vcl_init failed: without a message',
  )
  t.equal(
    tell('VCL compiled.\nVCL "cf-1-01234567-1" Failed initialization\nMessage:\n\tno way\n\n'),
    'main.vcl: vcl_init failed: no way',
  )
  t.equal(
    tell(
      "Message from VCC-compiler:\nSymbol not found.\n('Builtin' Line 32 Pos 1)\nvcl 4.0;\n###-----\n\nRunning VCC-compiler failed, exited with 2\nVCL compilation failed\n",
    ),
    'main.vcl line 3 pos 15: Symbol not found.\nbehind its end:\nvcl 4.0;\n###-----',
  )
  t.end()
})
