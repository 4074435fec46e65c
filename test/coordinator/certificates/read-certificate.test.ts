/** Which certificates are refused before any cache gets them, and which names their domains cover. */
import fc from 'fast-check'
import t from 'tap'
import {
  findUncovered,
  readCertificate,
} from '../../../src/coordinator/certificates/read-certificate.js'
import { makeDomainCertificate } from '../../support/domain-certificates.js'

const names = ['www.example.com', '*.shop.example.com']
const authority = await makeDomainCertificate({ names: ['ca.example.com'], isAuthority: true })
const right = await makeDomainCertificate({ names, issuer: authority })
const other = await makeDomainCertificate({ names })

function refusal(chain: string, key: string): unknown {
  try {
    readCertificate({ chain, key }, Date.now())
    return null
  } catch (error) {
    return error
  }
}

void t.test('a valid certificate is read, and its chain is normalized', (t) => {
  const read = readCertificate(
    { chain: `${right.chain}\n\n${authority.chain}`, key: right.key },
    Date.now(),
  )
  t.same(read.domains, names)
  t.match(read.sha, /^[0-9a-f]{64}$/)
  t.match(read.fingerprint, /^[0-9a-f]{64}$/)
  t.ok(read.notAfter > Date.now())
  const again = readCertificate({ chain: read.chain, key: read.key }, Date.now())
  t.same(again, read)
  t.end()
})

void t.test('an invalid certificate is refused with the reason', async (t) => {
  const expired = await makeDomainCertificate({ names, days: -1 })
  const early = await makeDomainCertificate({ names, startsInDays: 1, days: 3 })
  const weak = await makeDomainCertificate({ names, rsaBits: 1024 })
  const nameless = await makeDomainCertificate({ names: [] })
  const [first] = other.chain.split('-----END')
  const cases: readonly (readonly [chain: string, key: string, message: RegExp])[] = [
    [right.chain, other.key, /^key: it is not the key of the first certificate/],
    [expired.chain, expired.key, /^chain: certificate 1 .* expired at 20\d\d-/],
    [early.chain, early.key, /^chain: certificate 1 .* is not valid before 20\d\d-/],
    [weak.chain, weak.key, /^chain: .* RSA key of 1024 bits, at least 2048/],
    [nameless.chain, nameless.key, /^chain: its certificate has no DNS name/],
    [
      right.chain + other.chain,
      right.key,
      /^chain: certificate 1 .* was not issued by certificate 2/,
    ],
    [other.chain.repeat(21), other.key, /^chain: it has 21 certificates, at most 20/],
    ['x'.repeat(64 * 1024 + 1), other.key, /^chain: it has 65537 bytes, at most 65536/],
    ['', other.key, /^chain: it has no certificate/],
    [`${other.chain}${other.key}`, other.key, /^chain: it holds a PRIVATE KEY/],
    [first ?? '', other.key, /^chain: it has no certificate/],
    [other.chain, 'no key', /^key: it is not a private key in PEM/],
    [other.chain, other.key.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE'), /^key: it is encrypted/],
    [other.chain, 'x'.repeat(64 * 1024 + 1), /^key: it is over 65536 bytes/],
  ]
  for (const [chain, key, message] of cases)
    t.match(refusal(chain, key), { kind: 'invalid', errorKey: 'certificate', message })
})

void t.test('no input makes it throw anything but a FleetError', (t) => {
  const texts = fc.oneof(
    fc.string(),
    fc.constantFrom(right.chain, right.key, '-----BEGIN X-----\n'),
  )
  fc.assert(
    fc.property(
      fc.array(texts).map((all) => all.join('')),
      fc.array(texts).map((all) => all.join('')),
      (chain, key) => {
        const error = refusal(chain, key)
        return error === null || (error instanceof Error && error.name === 'FleetError')
      },
    ),
    { numRuns: 200 },
  )
  t.end()
})

void t.test('a name is covered by itself, or by a wildcard above it', (t) => {
  t.same(findUncovered(['www.example.com'], ['www.example.com']), [])
  t.same(findUncovered(['a.b.example.com'], ['*.example.com']), [])
  t.same(findUncovered(['*.example.com'], ['*.example.com']), [])
  t.same(findUncovered(['*.b.example.com'], ['*.example.com']), [])
  t.same(findUncovered(['example.com'], ['*.example.com']), ['example.com'])
  t.same(findUncovered(['*.example.com'], ['www.example.com']), ['*.example.com'])
  t.same(findUncovered(['www.example.com'], []), ['www.example.com'])
  t.end()
})
