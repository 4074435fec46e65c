/** Arguments: refused before a byte is sent, or parsed by the real cache as intended. */

import fc from 'fast-check'
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { typedLine } from '../../protocol/command.js'
import { ban, banList, writeBlanksAsEscapes } from '../../protocol/commands/ban.js'
import { backendList, backendSetHealth } from '../../protocol/commands/backend.js'
import { paramSet, paramShow } from '../../protocol/commands/param.js'
import { ping } from '../../protocol/commands/process.js'
import { vclDiscard, vclInline, vclLabel, vclShow, vclUse } from '../../protocol/commands/vcl.js'
import { connectManagementPort } from '../../protocol/connection.js'
import { ManagementPortError } from '../../protocol/errors.js'
import { replyText } from '../../protocol/frame.js'
import {
  commandLine,
  hereDocument,
  quoteArgument,
  quoteChildArgument,
  splitLine,
} from '../../protocol/quote.js'
import { startVarnishd } from '../support/varnishd.js'

const refused = { name: 'ManagementPortError', kind: 'refused' }

/** Words of pieces that are special to one of the parsers, and any text. */
const nastyWord = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        ...[
          '<',
          '<<',
          '"',
          "'",
          '\\',
          '\\n',
          '\\x3c',
          '\\074',
          '\\x20',
          '\\"',
          ' ',
          '\t',
          '\n',
          '\r',
        ],
        ...[
          '\0',
          '#',
          '-',
          '-j',
          '&&',
          '||',
          '%s',
          '$',
          '`',
          '*',
          '?',
          '[',
          '{',
          '}',
          ';',
          '//',
          '/*',
        ],
        ...['ä', '😀', '\u0085', '\u00a0', '\u2028', '\ud800', '\x7f', '\x1b', 'x', '0', '200 0'],
      ),
      { maxLength: 6 },
    )
    .map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
)

const refuses = (make: () => unknown): boolean => {
  try {
    make()
    return false
  } catch (error) {
    if (error instanceof ManagementPortError && error.kind === 'refused' && !error.sent) return true
    throw error
  }
}

void t.test('a quoted word parses back to the word by the rules of the cache', (t) => {
  fc.assert(
    fc.property(nastyWord, (word) => {
      if (refuses(() => quoteArgument(word))) return
      assert.deepEqual(splitLine(`x ${quoteArgument(word)} y`), ['x', word, 'y'])
      if (refuses(() => quoteChildArgument(word))) return
      assert.equal(quoteChildArgument(word), quoteArgument(word))
      assert.ok(!quoteChildArgument(word).includes(' '))
    }),
    { numRuns: 1000 },
  )
  t.end()
})

void t.test('unsafe words are refused with a reason', (t) => {
  const everywhere: [string, RegExp][] = [
    ['a\nb', /U\+000A at position 2/],
    ['a\rb', /U\+000D/],
    ['a\0b', /U\+0000/],
    ['\x1b[0m', /U\+001B at position 1/],
    ['\x7f', /U\+007F/],
    ['a\u2028b', /U\+2028/],
    ['a\u2029b', /U\+2029/],
    ['a\ud800b', /U\+D800/],
    ['<<', /<</],
    ['x'.repeat(70_000), /more than 65536 bytes/],
  ]
  for (const [word, reason] of everywhere) {
    t.throws(() => quoteArgument(word), { kind: 'refused', sent: false, message: reason })
    t.throws(() => quoteChildArgument(word), { kind: 'refused', message: reason })
  }
  t.throws(() => quoteChildArgument('a b'), { kind: 'refused', message: /\\x20/ })
  t.throws(() => quoteChildArgument(''), { kind: 'refused', message: /empty/ })
  t.equal(commandLine('c', ['', 'a', '']), 'c "" a ""')
  t.throws(() => commandLine('c', ['', '']), { kind: 'refused', message: /^c: .*7\.0 to 7\.4/ })
  t.throws(() => hereDocument('a\0b'), { kind: 'refused', message: /NUL/ })
  t.throws(() => hereDocument('a\ud800b'), { kind: 'refused', message: /U\+D800/ })
  t.throws(() => hereDocument(Buffer.alloc(9 * 1024 * 1024, 'x')), refused)
  t.end()
})

void t.test(
  'names, patterns, fields and parameters that the cache would not accept are refused',
  (t) => {
    for (const name of [
      '',
      '1a',
      'a.b',
      'a/b',
      'a b',
      'ä',
      'a*',
      '-a',
      '<<',
      'a\n',
      'x'.repeat(234),
    ])
      t.throws(() => vclInline(name, 'vcl 4.1;'), refused, name)
    t.doesNotThrow(() => vclInline('x'.repeat(233), 'vcl 4.1;'))
    t.doesNotThrow(() => vclLabel('x'.repeat(300), 'a'))
    t.throws(() => vclUse('x'.repeat(1_001)), refused)
    t.throws(() => vclDiscard([]), refused)
    t.throws(() => vclDiscard(['a', '*']), refused)
    t.throws(() => backendSetHealth('-p', 'sick'), refused)
    t.throws(() => backendList({ pattern: 'a b' }), refused)
    t.throws(() => paramSet('-j', '1'), refused)
    t.throws(() => paramShow('changed'), refused)
    t.throws(() => ban([]), refused)
    t.throws(() => ban([{ field: 'client.ip', operator: '==', value: '1' }]), refused)
    const longHeader = `obj.http.${'x'.repeat(127)}`
    t.throws(() => ban([{ field: longHeader, operator: '==', value: '1' }]), refused, 'panics')
    t.end()
  },
)

void t.test('the token of a here-document does not occur in its text', (t) => {
  const line = hereDocument('a\n#EOF\n<< EOF\n')
  const [, token = ''] = /^ << (\S+)\n/.exec(line) ?? []
  t.equal(line, ` << ${token}\na\n#EOF\n<< EOF\n${token}`)
  t.equal(token.lastIndexOf(token.charAt(0)), 0, 'its first character is unique: no backtracking')
  t.match(hereDocument('no line feed'), /^ << (\S+)\nno line feed\n\1$/)
  t.match(hereDocument(Buffer.from('no line feed')).toString(), /^ << (\S+)\nno line feed\n\1$/)
  t.end()
})

void t.test('blanks in a regular expression become escapes, and it matches the same', (t) => {
  t.equal(writeBlanksAsEscapes('^/a b'), '^/a\\x20b')
  t.equal(writeBlanksAsEscapes('a\\ b'), 'a\\x20b')
  t.equal(writeBlanksAsEscapes('a\\\\ b'), 'a\\\\\\x20b')
  t.equal(writeBlanksAsEscapes('\\Qab\\E'), '\\Qab\\E')
  for (const pattern of ['\\Qa b\\E', '(?x) a b', '(?ix: a)', '\\c '])
    t.throws(() => writeBlanksAsEscapes(pattern), refused, pattern)
  const pattern = fc.array(fc.constantFrom('a', ' ', '\\ ', '\\\\', '\\.', '[ a]', '.', '( )?'))
  fc.assert(
    fc.property(
      pattern,
      fc.string({ unit: fc.constantFrom('a', ' ', '\\', '.') }),
      (parts, text) => {
        const before = parts.join('')
        assert.equal(
          new RegExp(writeBlanksAsEscapes(before)).test(text),
          new RegExp(before).test(text),
        )
      },
    ),
  )
  t.end()
})

void t.test('a typed line with a here-document in any spelling is refused', (t) => {
  const spelling = fc.constantFrom('<', '\\x3c', '\\x3C', '\\74', '\\074')
  fc.assert(
    fc.property(spelling, spelling, fc.boolean(), fc.string(), (a, b, isQuoted, end) => {
      const mark = isQuoted ? `"${a}${b}"` : `${a}${b}`
      assert.ok(refuses(() => typedLine(`ban req.url ~ ${mark} ${end.replaceAll(/[^a-z]/g, '')}`)))
      t.ok(
        refuses(() => typedLine(`ban "req.url ~ ${a}${b} x"`)),
        'the child splits it again',
      )
    }),
  )
  for (const line of ['', '  ', 'a\nb', 'a\0', 'a "', 'a \\q', 'a \\0', 'a "b"c', 'a "\\n"'])
    t.ok(
      refuses(() => typedLine(line)),
      JSON.stringify(line),
    )
  t.equal(typedLine(' -vcl.list -j').name, 'vcl.list')
  t.end()
})

void t.test('the real cache', async (t) => {
  const cache = await startVarnishd(t)
  const connection = await connectManagementPort({
    host: cache.host,
    port: cache.port,
    secret: () => readFile(cache.secretFile),
  })
  t.teardown(() => {
    connection.close()
  })
  const changedBefore = await cache.adm('param.show', 'changed')
  const pidBefore = await cache.adm('pid')
  /** Nothing else ran: the connection is in step, with the same processes and parameters. */
  const checkUnharmed = async (t: Test) => {
    t.equal(typeof (await connection.run(ping())), 'number')
    t.equal(await cache.adm('pid'), pidBefore)
    t.strictSame(await cache.adm('param.show', 'changed'), changedBefore)
  }

  await t.test('parses the value of a ban as intended, unless it was refused', async (t) => {
    let sent = 0
    await fc.assert(
      fc.asyncProperty(nastyWord, async (value) => {
        const terms = [{ field: 'req.http.x', operator: '==', value }] as const
        if (refuses(() => ban(terms))) return
        sent++
        await connection.run(ban(terms))
        const [newest] = await connection.run(banList())
        assert.equal(newest?.expression, `req.http.x == ${value}`)
      }),
      { numRuns: 300 },
    )
    t.ok(sent > 50, `${sent} were sent`)
    await checkUnharmed(t)
  })

  await t.test('parses a parameter’s value as intended, unless it was refused', async (t) => {
    const before = await connection.run(paramShow('cc_warnings')) // a text
    let sent = 0
    await fc.assert(
      fc.asyncProperty(nastyWord, async (value) => {
        if (refuses(() => paramSet('cc_warnings', value))) return
        sent++
        await connection.run(paramSet('cc_warnings', value))
        assert.equal((await connection.run(paramShow('cc_warnings'))).value, value)
      }),
      { numRuns: 300 },
    )
    t.ok(sent > 50, `${sent} were sent`)
    await connection.run(paramSet('cc_warnings', before.value as string))
    await checkUnharmed(t)
  })

  await t.test('parses VCL texts byte for byte', async (t) => {
    const comment = '/* #EOF\nEOF\n<< EOF\n"\\x41\\" \\q \t\r\n ä😀\u2028 \x01\x1b\nquit\n */\n'
    const source = `vcl 4.1;\n${comment}backend default none;\n`
    const latin1 = Buffer.from(source.replace(/[😀\u2028]/gu, ''), 'latin1')

    await connection.run(vclInline('here', source))
    await connection.run(vclInline('bytes', latin1))

    t.equal((await connection.run(vclShow('here'))).toString(), source)
    t.strictSame(await connection.run(vclShow('bytes')), latin1)
    await checkUnharmed(t)
  })

  await t.test('answers any typed line once', async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('help', 'ban', 'vcl.show', 'nope'),
        nastyWord,
        async (name, word) => {
          const line = `${name} ${word}`
          if (refuses(() => typedLine(line))) return
          const reply = await connection.run(typedLine(line))
          assert.notEqual(reply.status, 100, `${JSON.stringify(line)}: ${replyText(reply)}`)
          assert.equal(typeof (await connection.run(ping())), 'number')
        },
      ),
      { numRuns: 200 },
    )
    await checkUnharmed(t)
  })
})
