/** Which command lines users may send to a cache. */
import fc from 'fast-check'
import t from 'tap'
import {
  isReadingCommand,
  isSettableParameter,
  judgeCommand,
  neverSettable,
} from '../../src/vcl/engine-command.js'

void t.test('reading commands are accepted unchanged', (t) => {
  const lines = [
    'ping',
    'status -j',
    'banner',
    'help vcl.load',
    'pid',
    'vcl.list',
    'vcl.show boot',
    'vcl.deps -j',
    'backend.list -p *',
    'ban.list',
    'param.show default_ttl',
    'panic.show',
    'storage.list',
    '  ping  ',
    '"ping"',
    'vcl.show "boot"',
  ]
  for (const line of lines) {
    const judged = judgeCommand(line)
    t.match(judged, { verdict: 'reading', line }, line)
    t.same(judgeCommand(`${line}\n`), judged, 'a single trailing line feed is dropped')
  }
  t.match(judgeCommand('vcl.show "a\\x62"'), { name: 'vcl.show', words: ['ab'] })
  t.end()
})

void t.test('a command counts as reading by its first word', (t) => {
  t.same(['vcl.list', 'vcl.use', 'VCL.LIST', ''].map(isReadingCommand), [true, false, false, false])
  t.end()
})

void t.test('commands that change desired state are recognized with their words', (t) => {
  t.same(judgeCommand('ban req.url ~ "^/a b"'), {
    verdict: 'desired-state',
    name: 'ban',
    words: ['req.url', '~', '^/a b'],
  })
  t.match(judgeCommand('param.set default_ttl 5'), { verdict: 'desired-state' })
  t.match(judgeCommand('param.reset default_ttl'), { verdict: 'desired-state' })
  t.match(judgeCommand('backend.set_health web sick'), { verdict: 'desired-state' })
  t.end()
})

void t.test('all other commands are refused with a reason', (t) => {
  const refusals: [string, RegExp][] = [
    ['', /empty/],
    ['   ', /empty/],
    ['vcl.use boot', /"vcl.use" is not allowed; allowed are ping, /],
    ['stop', /not allowed/],
    ['-ping', /not allowed/],
    ['PING', /not allowed/],
    ['auth 00', /not allowed/],
    ['quit', /not allowed/],
    ['"vcl.use" boot', /not allowed/],
    ['\\x76cl.use boot', /not allowed/],
    ['ping\n\n', /one line/],
    ['ping\nstop', /one line/],
    ['ping\rstop', /one line/],
    ['ping\0', /control/],
    ['ping\tx', /control/],
    ['vcl.show "a\\nstop"', /control characters, escaped/],
    ['vcl.show a\\x0astop', /control characters, escaped/],
    ['vcl.show \\012stop', /control characters, escaped/],
    ['vcl.show << EOF', /<</],
    ['vcl.show \\x3c< EOF', /<</],
    ['vcl.show "\\074\\x3c" EOF', /<</],
    ['vcl.show "a << b"', /<</],
    ['vcl.show <<EOF', /<</],
    ['vcl.show "boot', /not closed/],
    ['vcl.show bo"ot"', /start of a word/],
    ['vcl.show "a"b', /closing quote/],
    ['vcl.show \\q', /backslash/],
    ['vcl.show \\', /backslash/],
    ['ping \u2028', /line separators/],
    ['ping \ud800', /lone surrogates/],
    [`ping ${'x'.repeat(9000)}`, /at most 8192/],
    ['param.set cc_command x', /cc_command may not be changed/],
    ['param.set "cc_command" x', /cc_command may not be changed/],
    ['param.reset \\x76cl_path', /vcl_path may not be changed/],
  ]
  for (const [line, reason] of refusals)
    t.match(
      judgeCommand(line),
      { verdict: 'refused', reason },
      encodeURI(line.slice(0, 40).replace(/\p{Surrogate}/u, '')),
    )
  t.end()
})

void t.test('another command as first word is refused in any spelling', (t) => {
  const spellings = (text: string) =>
    fc
      .array(fc.constantFrom('plain', 'hex', 'octal'), {
        minLength: text.length,
        maxLength: text.length,
      })
      .map((kinds) => kinds.map((kind, index) => spell(text.charAt(index), kind)).join(''))
  const changing = fc.constantFrom(
    'vcl.use',
    'stop',
    'vcl.discard',
    'param.setx',
    'debug.panic.worker',
  )
  fc.assert(
    fc.property(changing.chain(spellings), fc.boolean(), (word, isQuoted) => {
      const judged = judgeCommand(`${isQuoted ? `"${word}"` : word} boot`)
      t.equal(judged.verdict, 'refused')
    }),
  )
  t.end()
})

void t.test('users may not set parameters that run programs or read files', (t) => {
  for (const name of ['cc_command', 'vmod_path', 'user', 'group', 'jail', 'vcc_feature'])
    t.notOk(isSettableParameter(name), name)
  t.ok(isSettableParameter('default_ttl'))
  // The parameters of all releases and their aliases, on any cache.
  for (const name of [...neverSettable, 'jail'])
    for (const line of [`param.set ${name} +allow_inline_c`, `"param.reset" "${name}"`])
      t.match(judgeCommand(line), { verdict: 'refused', reason: `${name} may not be changed` })
  t.end()
})

function spell(character: string, kind: string): string {
  const code = character.charCodeAt(0)
  if (kind === 'hex') return `\\x${code.toString(16).padStart(2, '0')}`
  return kind === 'octal' ? `\\${code.toString(8).padStart(3, '0')}` : character
}
