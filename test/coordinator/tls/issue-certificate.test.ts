/** Certificates that a coordinator issues, verified by OpenSSL. */
import { execFile } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { isIP, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import { promisify } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { issueCa, issueServerCertificate } from '../../../src/coordinator/tls/issue-certificate.js'

const run = promisify(execFile)
const now = Date.UTC(2026, 10, 1)
const day = 24 * 3600 * 1000

void t.test('OpenSSL accepts the CA and the certificate', async (t) => {
  const ca = issueCa(now)
  const server = issueServerCertificate(ca, ['fleet.example', '192.0.2.7', '2001:db8::7'], now)
  const folder = t.testdir({ 'ca.pem': ca.certificate, 'server.pem': server.certificate })
  const [caFile, file] = [join(folder, 'ca.pem'), join(folder, 'server.pem')]
  const strict = ['-x509_strict', '-purpose', 'sslserver', '-attime', String(now / 1000)]
  const { stdout } = await run('openssl', ['verify', ...strict, '-CAfile', caFile, file])
  t.match(stdout, /server\.pem: OK/)

  const other = join(folder, 'other.pem')
  await writeFile(other, issueCa(now).certificate)
  await t.rejects(run('openssl', ['verify', ...strict, '-CAfile', other, file]))
})

void t.test('a CA is valid ten years, a certificate ninety days, never beyond its CA', (t) => {
  const ca = issueCa(now)
  const years = (Date.parse(new X509Certificate(ca.certificate).validTo) - now) / day / 365.25
  t.ok(Math.abs(years - 10) < 0.01)
  const end = (at: number): number =>
    Date.parse(new X509Certificate(issueServerCertificate(ca, ['a'], at).certificate).validTo)
  t.equal(end(now), now + 90 * day)
  const late = now + 3640 * day
  t.equal(end(late), now + 3653 * day)
  t.ok(Date.parse(new X509Certificate(ca.certificate).validFrom) <= now - day, 'clocks may be late')
  t.end()
})

void t.test('a certificate matches its CA, its key and its names, whatever these are', (t) => {
  const ca = issueCa(now)
  const issuer = new X509Certificate(ca.certificate)
  const name = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6())
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 20 }), (names) => {
      const { certificate, key } = issueServerCertificate(ca, names, now)
      const read = new X509Certificate(certificate)
      return (
        read.checkIssued(issuer) &&
        read.verify(issuer.publicKey) &&
        read.checkPrivateKey(createPrivateKey(key)) &&
        !read.ca &&
        issuer.ca &&
        names.every((one) => isNamed(read, one)) &&
        !isNamed(read, 'elsewhere.invalid') &&
        /^[4-7][0-9A-F]{31}$/.test(read.serialNumber)
      )
    }),
    { numRuns: 50 },
  )
  t.end()
})

function isNamed(certificate: X509Certificate, name: string): boolean {
  return (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined
}

void t.test('a client that trusts the CA connects; another gets a clear error', async (t) => {
  const ca = issueCa(Date.now())
  const { certificate, key } = issueServerCertificate(ca, ['127.0.0.1'], Date.now())
  const server = createServer({ cert: certificate + ca.certificate, key }).listen(0, '127.0.0.1')
  server.on('tlsClientError', () => undefined)
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo // of a TCP listener
  const shake = (trusted: string): Promise<unknown> => {
    const socket = connect({ host: '127.0.0.1', port, ca: trusted })
    return once(socket, 'secureConnect').finally(() => socket.destroy())
  }
  await shake(ca.certificate)
  await t.rejects(shake(issueCa(Date.now()).certificate), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })
})
