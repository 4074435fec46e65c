/** The editor's knowledge of VCL, checked with the real compiler: where variables are readable and writable, and what is offered where. */
import t from 'tap'
import { explain, findSubroutine, listOptions } from '../../src/page/editor/vcl-help.js'
import { vclSubroutines } from '../../src/page/editor/vcl-words.js'
import { vclVariables, type VclVariable } from '../../src/page/editor/vcl-variables.js'
import { readRelease } from '../support/cache-program.js'
import { createCompiler } from '../support/compile-vcl.js'

const head = 'vcl 4.1;\nimport std;\nbackend default none;\n'

/** Variables of the installed release, in the newest syntax, and with a value. */
function isHere({ since, syntax, type }: VclVariable): boolean {
  const { version } = readRelease()
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [sinceMajor = 0, sinceMinor = 0] = (since ?? '6.0').split('.').map(Number)
  const isKnown = major > sinceMajor || (major === sinceMajor && minor >= sinceMinor)
  return isKnown && syntax !== '4.0 only' && type !== 'BODY' && type !== 'BLOB'
}

/** Some releases, or a compiler without storages, accept these everywhere. */
const takenWidely = /^(?:req\.is_hit|storage\.)/

function spell({ name }: VclVariable): string {
  return name.replace('.*', '.x-name').replace('<name>', 's0')
}

void t.test('every variable is read and set exactly where the compiler accepts it', async (t) => {
  const compiler = await createCompiler()
  t.teardown(compiler.remove)
  const here = vclVariables.filter(isHere)
  t.ok(here.length > 80)
  const subroutines = vclSubroutines.filter(({ since }) => since === null)
  const bodies = subroutines.map(({ name: place }) => {
    const read = here.filter(({ readable }) => readable.includes(place))
    const set = read.filter(({ writable, type }) => writable.includes(place) && type !== 'HEADER')
    const lines = [
      ...read.map((one) => `std.log("" + ${spell(one)});`),
      ...set.map((one) => `set ${spell(one)} = ${spell(one)};`),
    ]
    return `sub ${place} {\n${lines.join('\n')}\n}\n`
  })

  t.match(await compiler.compile(head + bodies.join('')), { ok: true, text: '' })

  for (const one of here.filter(({ name }, at) => at % 8 === 0 && !takenWidely.test(name))) {
    const other = subroutines.find(({ name }) => !one.readable.includes(name))
    if (!other) continue
    const { ok } = await compiler.compile(
      `${head}sub ${other.name} { std.log("" + ${spell(one)}); }\n`,
    )
    t.equal(ok, false, `${one.name} is not read in ${other.name}`)
  }
  for (const { name, returns } of subroutines) {
    const actions = returns.filter((action) => !['vcl', 'synth', 'error'].includes(action))
    const body = actions.map((action) => `if (now < now) { return (${action}); }`).join('\n')
    t.match(await compiler.compile(`${head}sub ${name} {\n${body}\n}\n`), { ok: true }, name)
  }
})

void t.test('the subroutine is that of the open braces, outside of strings and comments', (t) => {
  t.equal(findSubroutine('sub vcl_recv {\n  if (a) { b }\n  '), 'vcl_recv')
  t.equal(findSubroutine('sub vcl_recv { }\n'), null)
  t.equal(findSubroutine('sub vcl_recv { # }\n "}" /* } */ {"}"} '), 'vcl_recv')
  t.equal(findSubroutine('sub vcl_recv { }\nsub vcl_deliver {'), 'vcl_deliver')
  t.equal(findSubroutine('backend default { .host = '), null)
  t.equal(findSubroutine('}}} sub own {'), 'own')
  t.end()
})

void t.test('the offered words fit their place', (t) => {
  const labels = (before: string) => listOptions(before).map(({ label }) => label)
  const recv = labels('sub vcl_recv {\n  ')
  t.ok(recv.includes('req.url') && recv.includes('if') && !recv.includes('beresp.ttl'))
  t.ok(labels('sub vcl_backend_response { ').includes('beresp.ttl'))
  const set = labels('sub vcl_recv { set ')
  t.ok(set.includes('req.http.') && !set.includes('req.restarts') && !set.includes('if'))
  t.same(labels('sub vcl_hash { return ('), ['lookup', 'fail'])
  t.ok(labels('sub own { ').includes('beresp.ttl'), 'custom subroutines are called anywhere')
  t.ok(labels('sub ').includes('vcl_recv'))
  t.ok(labels('').includes('backend') && !labels('').includes('req.url'))
  t.end()
})

void t.test('a word is explained, a header as part of its family', (t) => {
  t.match(explain('beresp.ttl'), { detail: 'DURATION', facts: [/^Read in vcl_backend_response/] })
  t.match(explain('req.http.Cookie'), { title: 'req.http.*', detail: 'HEADER' })
  t.match(explain('storage.s0.free_space'), { title: 'storage.<name>.free_space' })
  t.match(explain('req.filters'), { facts: [/./, /./, 'Since release 7.7'] })
  t.match(explain('vcl_hash'), { facts: ['Returns lookup, fail'] })
  t.match(explain('regsub'), { detail: /^regsub\(/ })
  t.equal(explain('shop'), null)
  t.equal(explain('storage.free_space'), null)
  t.end()
})
