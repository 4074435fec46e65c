/** Certificates for domains, as texts: self-signed or issued by others, valid or not. OpenSSL makes them; Node can only read them. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface CertificateText {
  readonly chain: string
  readonly key: string
}

interface Wanted {
  readonly names: readonly string[]
  /** Negative: expired this many days ago. Default: 2. */
  readonly days?: number
  /** Valid from this many days from now. */
  readonly startsInDays?: number
  /** Size of an RSA key; by default an elliptic curve is used. */
  readonly rsaBits?: number
  readonly issuer?: CertificateText
  /** Whether it may issue others. */
  readonly isAuthority?: boolean
}

const run = promisify(execFile)

export async function makeDomainCertificate(wanted: Wanted): Promise<CertificateText> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-certificate-'))
  try {
    return await make(folder, wanted)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function make(folder: string, wanted: Wanted): Promise<CertificateText> {
  const { names, days = 2, startsInDays = days < 0 ? days - 1 : 0, rsaBits, issuer } = wanted
  const path = (name: string) => join(folder, name)
  const key = rsaBits
    ? ['-newkey', `rsa:${rsaBits}`]
    : ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const request = ['req', '-new', ...key, '-nodes', '-subj', `/CN=${names[0] ?? 'none'}`]
  await run('openssl', [...request, '-keyout', path('key'), '-out', path('csr')])
  const alternative = names.map((name) => `DNS:${name}`).join(',')
  const extensions = [
    ...(alternative === '' ? [] : [`subjectAltName=${alternative}`]),
    ...(wanted.isAuthority === true ? ['basicConstraints=critical,CA:TRUE'] : []),
  ]
  await writeFile(path('ext'), `${extensions.join('\n')}\n`)
  if (issuer) {
    await writeFile(path('ca'), issuer.chain)
    await writeFile(path('ca.key'), issuer.key)
  }
  await writeFile(path('index'), '')
  await writeFile(path('conf'), configOf(folder))
  const signedBy = issuer
    ? ['-cert', path('ca'), '-keyfile', path('ca.key')]
    : ['-selfsign', '-keyfile', path('key')]
  const between = ['-startdate', toTime(startsInDays), '-enddate', toTime(days)]
  await run('openssl', [
    ...['ca', '-batch', '-notext', '-config', path('conf'), ...signedBy, ...between],
    ...['-extfile', path('ext'), '-in', path('csr'), '-out', path('crt')],
  ])
  return {
    chain: await readFile(path('crt'), 'utf8'),
    key: await readFile(path('key'), 'utf8'),
  }
}

/** `openssl x509` of 3.0 takes no dates, `openssl ca` does. */
function configOf(folder: string): string {
  return `[ca]\ndefault_ca = one\n[one]\ndatabase = ${folder}/index\nnew_certs_dir = ${folder}\nserial = ${folder}/serial\nrand_serial = yes\ndefault_md = sha256\npolicy = any\nunique_subject = no\n[any]\ncommonName = supplied\n`
}

/** In OpenSSL's format: 20261123065500Z. */
function toTime(inDays: number): string {
  const at = new Date(Date.now() + inDays * 86_400_000 - 60_000)
  return `${at.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`
}
