/** Domain names: normalization and refusals. */
import fc from 'fast-check'
import t from 'tap'
import { isDomainName } from '../../src/resources/domain-name.js'
import { parse, whenRefused } from './read-domain-name.js'

void t.test('a name is stored in lower case and ASCII, without a trailing dot', (t) => {
  const names: Readonly<Record<string, string>> = {
    'Shop.Example': 'shop.example',
    '*.Shop.example': '*.shop.example',
    'shop.example.': 'shop.example',
    localhost: 'localhost',
    'Bücher.example': 'xn--bcher-kva.example',
    '*.bücher.example': '*.xn--bcher-kva.example',
    '例え。テスト': 'xn--r8jz45g.xn--zckzah',
    'XN--BCHER-KVA.example': 'xn--bcher-kva.example',
    '192.0.2.1': '192.0.2.1',
    [`${'a'.repeat(63)}.example`]: `${'a'.repeat(63)}.example`,
  }
  for (const [given, wanted] of Object.entries(names)) t.equal(parse(given), wanted, given)
  t.end()
})

void t.test('other texts are refused with a message that shows a valid name', (t) => {
  const refused = [
    ...['', '.', '*', '*.', '*.*.example', 'a.*.example', 'a*.example', '**.example', '.example'],
    ...['shop.example:80', 'https://shop.example', 'shop.example/x', 'user@shop.example', '[::1]'],
    ...['a..example', 'shop.example..', '-a.example', 'a-.example', 'a_b.example', 'a b.example'],
    ...['a%2eexample', '%61.example', 'a\\.example', 'a"b.example', 'a\n.example', 'a\0.example'],
    ...[`${'a'.repeat(64)}.example`, `${'a.'.repeat(126)}example`, 'é:80', 'é/x', 'é%2e.example'],
    ...['＊.example', 'é\u2028.example', '\ud800.example', 'shop.example}', 'a;b', '"'],
  ]
  t.same(
    refused.filter((given) => whenRefused(given) !== null),
    [],
  )
  const message = /^fqdn: "example:80".*like www\.example\.com/
  t.throws(() => parse('shop.example:80'), { kind: 'invalid', errorKey: 'domain', message })
  t.end()
})

void t.test('any accepted name is plain and stays the same when parsed again', (t) => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc
      .array(fc.constantFrom('a', 'B', 'ü', '-', '.', '*', '。', '"', '%2e', 'xn--', '０', 'ß'), {
        maxLength: 10,
      })
      .map((parts) => parts.join('')),
    fc.domain(),
  )
  const property = fc.property(text, (given) => {
    const kept = whenRefused(given)
    if (kept === null) return
    if (!/^(?:\*\.)?[a-z0-9.-]{1,253}$/.test(kept)) throw new Error(kept)
    if (parse(kept) !== kept || !isDomainName(kept)) throw new Error(`${kept} again`)
    if (given.startsWith('*.') !== kept.startsWith('*.')) throw new Error('a wildcard by itself')
  })

  fc.assert(property, { numRuns: 5000 })
  t.end()
})
