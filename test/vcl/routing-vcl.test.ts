/** The VCL that routes requests by domain name: which group gets a request, in which order, and that names are never read as code. */
import fc from 'fast-check'
import t from 'tap'
import { makeRoutingVcl, readRoutes, type Route } from '../../src/vcl/routing.js'
import { lexVcl, type Token } from '../../src/vcl/lexer.js'
import { whenRefused } from '../resources/read-domain-name.js'

const labels = fc.constantFrom('a', 'b', 'cc', 'x-y', '1')
const names = fc.array(labels, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'))
const routes: fc.Arbitrary<Route[]> = fc.uniqueArray(
  fc.record({
    fqdn: fc.tuple(fc.boolean(), names).map(([wild, name]) => (wild ? `*.${name}` : name)),
    groupId: fc.integer({ min: 1, max: 5 }),
  }),
  { selector: ({ fqdn }) => fqdn, maxLength: 12 },
)

/** Evaluates the generated statements as the cache does: the first one whose condition holds decides. Null: 404. */
function route(text: string, host: string): number | null {
  const asked = host.toLowerCase().replace(/\.?(:[0-9]*)?$/, '')
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(asked)) return null
  const line =
    / {2}if \(req\.http\.X-Cachefleet-Host (==|~) "(.*)"\) \{ return \(vcl\(cf-l-(\d+)\)\); \}/g
  for (const [, operator, value = '', group] of text.matchAll(line))
    if (operator === '==' ? asked === value : new RegExp(value).test(asked)) return Number(group)
  return null
}

/** The same rules in another formulation. */
function expected(all: readonly Route[], host: string): number | null {
  const asked = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
  const parts = asked.split('.')
  const candidates = [asked, ...parts.slice(1).map((_, at) => `*.${parts.slice(at + 1).join('.')}`)]
  for (const fqdn of candidates) {
    const found = all.find((one) => one.fqdn === fqdn)
    if (found) return found.groupId
  }
  return null
}

void t.test('an exact name wins over a wildcard, and the longest wildcard comes first', (t) => {
  const hosts = fc.tuple(names, fc.constantFrom('', '.', ':80', '.:8080', ':'), fc.boolean())
  const property = fc.property(routes, fc.array(hosts, { minLength: 1 }), (all, asked) => {
    const { text } = makeRoutingVcl(all)
    for (const [name, tail, isUpper] of asked) {
      const host = (isUpper ? name.toUpperCase() : name) + tail
      if (route(text, host) !== expected(all, host)) throw new Error(`${host} in ${text}`)
    }
  })

  fc.assert(property, { numRuns: 2000 })
  t.end()
})

void t.test('the order of routes does not matter, and each text has its own name', (t) => {
  const property = fc.property(routes, (all) => {
    const one = makeRoutingVcl(all)
    const other = makeRoutingVcl(all.toReversed())
    if (one.text !== other.text) throw new Error('another text')
    if (one.name !== `cf-r-${one.sha.slice(0, 8)}`) throw new Error(one.name)
    if ([...lexVcl(one.text)].some(({ kind }) => kind === 'error')) throw new Error(one.text)
  })

  fc.assert(property)
  for (const fqdn of ['a";', 'a\nb', '', 'A', '*', 'a*'])
    t.throws(() => makeRoutingVcl([{ fqdn, groupId: 1 }]), JSON.stringify(fqdn))
  t.end()
})

void t.test('the routes can be read from the text, in the order in which they match', (t) => {
  const staged = fc
    .tuple(routes, fc.infiniteStream(fc.boolean()))
    .map(([all, stages]) => all.map((one) => ({ ...one, stage: stages.next().value === true })))
  const print = ({ fqdn, groupId, stage }: Route): string => `${fqdn} ${groupId} ${String(stage)}`
  const property = fc.property(staged, (all) => {
    const { text } = makeRoutingVcl(all)
    const read = readRoutes(text)
    const lines = read.map((one) =>
      text.indexOf(makeRoutingVcl([one]).text.split('\n').at(-4) ?? ''),
    )
    if (String(read.map(print).toSorted()) !== String(all.map(print).toSorted()))
      throw new Error(`${String(read.map(print))} of ${text}`)
    if (lines.some((at, index) => at < 0 || at <= (lines[index - 1] ?? 0)))
      throw new Error(`${String(lines)} of ${text}`)
  })

  fc.assert(property)
  t.end()
})

void t.test('a strict parser finds every accepted name and nothing else', (t) => {
  const shape = (tokens: readonly Token[]): string => tokens.map(({ kind }) => kind).join()
  const read = (fqdn: string) => [...lexVcl(makeRoutingVcl([{ fqdn, groupId: 7 }]).text)]
  const strings = (tokens: readonly Token[]) =>
    tokens.filter(({ kind }) => kind === 'string').map(({ value }) => value)
  const plain = { exact: read('a.example'), wild: read('*.a.example') }
  const part = fc.constantFrom(
    ...[
      'a',
      'B',
      '-',
      '.',
      '*',
      '"',
      '\\',
      '\n',
      '{',
      '}',
      '"}',
      '"""',
      '%22',
      ';',
      '#',
      '//',
      '/*',
    ],
    ...[
      'ü',
      '。',
      '．',
      'ß',
      'ẞ',
      'ſ',
      '\u200d',
      '\0',
      '$',
      '(',
      ')',
      '|',
      '\ud800',
      '１',
      '㎏',
      '℡',
    ],
  )
  const given = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.tuple(fc.domain(), part).map(([domain, extra]) => domain + extra),
    fc.domain(),
    fc.domain().map((domain) => `*.${domain}`),
  )
  let accepted = 0
  const property = fc.property(given, (text) => {
    const fqdn = whenRefused(text)
    if (fqdn === null) return
    accepted++
    const base = fqdn.startsWith('*.') ? fqdn.slice(2) : null
    const tokens = read(fqdn)
    const like = base === null ? plain.exact : plain.wild
    if (shape(tokens) !== shape(like)) throw new Error(`other statements for ${fqdn}`)
    const [before, own] = [strings(tokens).slice(0, -1), strings(tokens).at(-1)]
    if (before.join('\n') !== strings(like).slice(0, -1).join('\n')) throw new Error(fqdn)
    const wanted = base === null ? fqdn : `\\.${base.split('.').join('\\.')}$`
    if (own !== wanted) throw new Error(`${fqdn} is read as ${String(own)}`)
    if (/[^a-z0-9.$\\-]/.test(wanted)) throw new Error(`${wanted} is more than a name`)
  })

  fc.assert(property, { numRuns: 5000 })
  t.ok(accepted > 1000)
  t.end()
})
