/** Which addresses webhooks may lead to, checked against a second, numeric computation of the registries. */
import fc from 'fast-check'
import t from 'tap'
import { compileNetworks } from '../../../src/coordinator/http/networks.js'
import { findTargetProblem } from '../../../src/coordinator/webhooks/judge-address.js'
import { parseWebhookUrl } from '../../../src/coordinator/webhooks/webhook-url.js'

const rules = (networks: readonly string[] = [], isAdministrators = false) => ({
  isAllowed: compileNetworks(networks),
  hasNetworks: networks.length > 0,
  isAdministrators,
})
const ofOrganization = rules()
const ofAdministrator = rules([], true)

/** First address, bits: private networks, and special-purpose addresses (IANA, IPv4 Special-Purpose Address Registry). */
const privates = [
  ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
]
const specials = [
  ...['0.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
  ...['100.100.100.200/32', '168.63.129.16/32'],
]

const toNumber = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const toAddress = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')

function rangeOf(network: string): { readonly first: number; readonly last: number } {
  const [address = '', bits = ''] = network.split('/')
  const first = toNumber(address)
  return { first, last: first + 2 ** (32 - Number(bits)) - 1 }
}

const isIn = (networks: readonly string[], number: number): boolean =>
  networks.map(rangeOf).some(({ first, last }) => first <= number && number <= last)

/** Any address, often one at the ends of a range. */
const numbers = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  fc
    .constantFrom(...[...privates, ...specials].map(rangeOf))
    .chain(({ first, last }) => fc.constantFrom(first, last, first - 1, last + 1, first + 1))
    .filter((number) => number >= 0 && number < 2 ** 32),
)

const hex = (number: number, from: number): string =>
  (Math.floor(number / 2 ** from) % 65_536).toString(16)

/** Forms of IPv6 that reach this IPv4 address by a translation on the way. */
const clothes: readonly ((number: number) => string)[] = [
  (number) => `::ffff:${toAddress(number)}`,
  (number) => `::ffff:${hex(number, 16)}:${hex(number, 0)}`,
  (number) => `0:0:0:0:0:FFFF:${hex(number, 16)}:${hex(number, 0)}`,
  (number) => `64:ff9b::${hex(number, 16)}:${hex(number, 0)}`,
  (number) => `64:ff9b::${toAddress(number)}`,
  (number) => `2002:${hex(number, 16)}:${hex(number, 0)}::1`,
  (number) => `2a01:4f8::5efe:${hex(number, 16)}:${hex(number, 0)}`,
  (number) => `2a01:4f8::200:5efe:${toAddress(number)}`,
]

void t.test('an organization reaches only public addresses, by https', (t) => {
  fc.assert(
    fc.property(numbers, (number) => {
      const isRefused = isIn([...privates, ...specials], number)
      const address = toAddress(number)
      return (
        (findTargetProblem(address, 'https:', ofOrganization) !== null) === isRefused &&
        findTargetProblem(address, 'http:', ofOrganization) !== null
      )
    }),
    { numRuns: 1_000 },
  )
  t.end()
})

void t.test('the system administrator reaches private networks too, but no special ones', (t) => {
  fc.assert(
    fc.property(numbers, fc.constantFrom('http:', 'https:'), (number, protocol) => {
      const problem = findTargetProblem(toAddress(number), protocol, ofAdministrator)
      return (problem !== null) === isIn(specials, number)
    }),
    { numRuns: 1_000 },
  )
  t.end()
})

void t.test('an IPv4 address in an IPv6 form is never judged more leniently', (t) => {
  const owners = fc.constantFrom(ofOrganization, ofAdministrator)
  fc.assert(
    fc.property(numbers, fc.constantFrom(...clothes), owners, (number, dress, owner) => {
      const plain = findTargetProblem(toAddress(number), 'https:', owner)
      return plain === null || findTargetProblem(dress(number), 'https:', owner) !== null
    }),
    { numRuns: 1_000 },
  )
  for (const dress of ['64:ff9b::808:808', '2002:808:808::1', '::ffff:8.8.8.8'])
    t.equal(findTargetProblem(dress, 'https:', ofOrganization), null, dress)
  t.end()
})

void t.test('of IPv6 only globally assigned addresses are reached', (t) => {
  const special = [
    ...['::', 'fe80::1', 'fec0::1', 'ff02::1', '100::1', '2001::1', '2001:db8::1', '3fff::1'],
    ...['5f00::1', '64:ff9b:1::808:808', '4000::1', '::808:808', '::ffff:0:808:808'],
    ...['fd00:ec2::254', 'fd20:ce::254', 'fe80::1%eth0'],
  ]
  for (const address of special) {
    t.match(findTargetProblem(address, 'https:', ofOrganization), /special/, address)
    t.match(findTargetProblem(address, 'https:', ofAdministrator), /special/, address)
  }
  for (const address of ['::1', 'fd12::1', 'fc00::1']) {
    t.match(findTargetProblem(address, 'https:', ofOrganization), /private/, address)
    t.equal(findTargetProblem(address, 'http:', ofAdministrator), null, address)
  }
  for (const address of ['2a00:1450:4001::1', '2606:4700::1111'])
    t.equal(findTargetProblem(address, 'https:', ofOrganization), null, address)
  t.match(findTargetProblem('hooks.example', 'https:', ofAdministrator), /not an address/)
  t.end()
})

void t.test('configured networks are reached by all, by http too, and nothing beside them', (t) => {
  const named = rules(['10.1.0.0/16', '127.0.0.1', 'fd12::/16'])
  for (const address of ['10.1.2.3', '127.0.0.1', 'fd12::1'])
    t.equal(findTargetProblem(address, 'http:', named), null, address)
  for (const address of ['10.2.0.1', '127.0.0.2', 'fd13::1', '169.254.169.254'])
    t.ok(findTargetProblem(address, 'https:', named), address)
  t.end()
})

void t.test('an invalid address is explained; a valid one is read back without its secret', (t) => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['hooks.example', /not a URL/],
    ['ftp://hooks.example/a', /ftp: is not supported/],
    ['https://a:b@hooks.example/', /a name or a password/],
    ['https://hooks.example/#a', /fragment/],
    ['http://hooks.example/', /use https/],
    ['https://169.254.169.254/latest', /metadata/],
    ['https://metadata.google.internal./', /metadata/],
    ['https://2130706433/', /private/],
    ['https://0x7f.1/', /private/],
    ['https://[::ffff:7f00:1]/', /private/],
  ]
  for (const [url, problem] of refused)
    t.throws(() => parseWebhookUrl(url, ofOrganization), { kind: 'invalid', message: problem }, url)
  t.same(parseWebhookUrl('https://hooks.example:8443/T0/secret?a=b', ofOrganization), {
    whole: 'https://hooks.example:8443/T0/secret?a=b',
    origin: 'https://hooks.example:8443',
  })
  t.equal(
    parseWebhookUrl('http://hooks.internal/', ofAdministrator).origin,
    'http://hooks.internal',
  )
  t.end()
})
