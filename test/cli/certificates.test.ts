/** Certificates in the CLI: chain and key from files or standard input, onto simulated caches with a TLS listener. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { startTlsFleet, type TlsCache } from '../coordinator/certificates/tls-fleet.js'
import { makeDomainCertificate, type CertificateText } from '../support/domain-certificates.js'
import { call, makeHome, type Ran } from './run-cli.js'

const names = ['www.example.com', 'shop.example.com']

interface Harness {
  readonly edge: TlsCache
  readonly first: CertificateText
  readonly second: CertificateText
  /** With the arguments after `cachefleet certificates`. */
  readonly cli: (words: readonly string[], input?: string) => Promise<Ran>
  /** Of the stored certificate. */
  readonly fingerprint: () => Promise<unknown>
  /** Writes a file with the text; returns its path. */
  readonly write: (name: string, text: string) => Promise<string>
}

void t.test('certificates in the CLI', async (t) => {
  const harness = await start(t)
  await t.test('an invalid certificate is refused in the API’s words, without the key', (t) =>
    refuse(t, harness),
  )
  await t.test('chain and key from files are stored, and a deploy puts them on caches', (t) =>
    addAndDeploy(t, harness),
  )
  await t.test('a renewal reads the key, or chain and key, from standard input', (t) =>
    renew(t, harness),
  )
  await t.test('a certificate refused by a cache ends with 1 and the cache’s message', (t) =>
    refuseRenewal(t, harness),
  )
  await t.test('a rollback requires --yes, and restores the previous certificate', (t) =>
    rollBack(t, harness),
  )
  await t.test('the list sorts by expiry, and never shows a key', (t) => list(t, harness))
})

async function start(t: Test): Promise<Harness> {
  const fleet = await startTlsFleet(t)
  const [first, second] = await Promise.all([
    makeDomainCertificate({ names, days: 5 }),
    makeDomainCertificate({ names, days: 60 }),
  ])
  const edge = await fleet.addCache('edge', ['tls'])
  const { base, token } = fleet.client
  const home = await makeHome(t)
  const environment = { ...home, CACHEFLEET_SERVER: base, CACHEFLEET_TOKEN: token }
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-pem-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const any = (words: readonly string[], input?: string) =>
    call(words, { environment, ...(input !== undefined && { input }) })
  const cli: Harness['cli'] = (words, input) => any(['certificates', ...words], input)
  t.match(await any(['deployments', 'add', '--name', 'edges', '--tags', 'tls']), { code: 0 })
  t.match(await any(['domains', 'add', '--fqdn', '*.example.com']), { code: 0 })
  return {
    edge,
    first,
    second,
    cli,
    fingerprint: async () => {
      const { out } = await cli(['get', 'shop', '--json'])
      return (JSON.parse(out) as { fingerprint: unknown }).fingerprint
    },
    write: async (name, text) => {
      await writeFile(join(folder, name), text)
      return join(folder, name)
    },
  }
}

async function refuse(t: Test, { cli, first, second, write }: Harness): Promise<void> {
  const chain = await write('fullchain.pem', first.chain)
  const add = ['add', '--name', 'shop', '--chain', chain]
  const foreign = await makeDomainCertificate({ names: ['www.elsewhere.example'] })
  const both = ['add', '--name', 'other', '--chain', '-', '--key', '-']
  t.match(await cli(both, foreign.chain + foreign.key), {
    code: exitCodes.refused,
    out: '',
    err: /chain: it names www\.elsewhere\.example, which no domain of the organization covers/,
  })
  const wrong = await cli([...add, '--key', await write('wrong.pem', second.key)])
  t.match(wrong, {
    code: exitCodes.refused,
    err: /key: it is not the key of the first certificate/,
  })
  t.notMatch(wrong.err + wrong.out, second.key.split('\n')[1] ?? 'PRIVATE')
  t.match(await cli(add), { code: exitCodes.usage, err: /--chain and --key go together/ })
  t.match(await cli([...add, '--key', '/no/such.pem']), { code: exitCodes.usage, err: /such\.pem/ })
  const expired = await makeDomainCertificate({ names: ['www.example.com'], days: -1 })
  t.match(await cli(both, expired.chain + expired.key), {
    code: exitCodes.refused,
    err: /chain: .*expired/,
  })
  t.match(await cli(['list', '--json']), { code: 0, out: /^\[\]\n$/ })
}

async function addAndDeploy(t: Test, { cli, edge, first, write }: Harness): Promise<void> {
  const chain = await write('fullchain.pem', first.chain)
  const key = await write('privkey.pem', first.key)
  const words = ['--name', 'shop', '--chain', chain, '--key', key, '--deployments', 'edges']
  const added = await cli(['add', ...words])
  t.match(added, { code: 0, err: '', out: /shop/ })
  t.notMatch(added.out, /PRIVATE KEY/)
  t.equal(edge.loads().length, 0, 'no cache has it yet')
  t.match(await cli(['deploy', 'shop', '--wait', '60s']), { code: 0, out: 'shop: Active\n' })
  t.equal(edge.loads().length, 1)
}

async function renew(t: Test, harness: Harness): Promise<void> {
  const { cli, edge, first, second, write } = harness
  const before = await harness.fingerprint()
  t.match(await cli(['renew', 'shop']), {
    code: exitCodes.usage,
    err: /--chain and --key are miss/,
  })
  const chain = await write('next.pem', second.chain)
  const words = ['renew', 'shop', '--chain', chain, '--key']
  t.match(await cli([...words, '-'], first.key), {
    code: exitCodes.refused,
    err: /key: it is not the key of the first certificate/,
  })
  t.equal(await harness.fingerprint(), before, 'a refusal changes nothing')
  t.match(await cli([...words, '-'], second.key), { code: 0, out: 'shop: Active\n' })
  t.not(await harness.fingerprint(), before)
  t.equal(edge.loads().length, 2)

  const both = ['renew', 'shop', '--chain', '-', '--key', '-']
  t.match(await cli(both, first.key + first.chain), { code: 0, out: 'shop: Active\n' })
  t.equal(await harness.fingerprint(), before)
  t.match(await cli(['renew', 'nobody', ...both.slice(2)], first.key + first.chain), {
    code: exitCodes.refused,
    err: /certificate "nobody" was not found/,
  })
}

async function refuseRenewal(t: Test, { cli, edge, second }: Harness): Promise<void> {
  edge.refusing = true
  const both = ['renew', 'shop', '--chain', '-', '--key', '-']
  t.match(await cli(both, second.chain + second.key), {
    code: exitCodes.refused,
    out: '',
    err: /edge: .*Unable to read certificate file/,
  })
  edge.refusing = false
  t.match(await cli(['deploy', 'shop']), { code: 0, out: 'shop: Active\n' })
}

async function rollBack(t: Test, harness: Harness): Promise<void> {
  const { cli } = harness
  const before = await harness.fingerprint()
  t.match(await cli(['rollback', 'shop']), { code: exitCodes.usage, err: /--yes/ })
  t.equal(await harness.fingerprint(), before)
  t.match(await cli(['rollback', 'shop', '--yes']), { code: 0, out: 'shop: Active\n' })
  t.not(await harness.fingerprint(), before)
  t.match(await cli(['rollback', 'shop', '--yes']), { code: 0 })
  t.equal(await harness.fingerprint(), before, 'the second rollback undoes the first')
}

async function list(t: Test, { cli, first }: Harness): Promise<void> {
  const words = ['add', '--name', 'early', '--chain', '-', '--key', '-']
  t.match(await cli(words, first.chain + first.key), { code: 0 })
  const { code, out } = await cli(['list', '--sort', 'notAfter'])
  t.equal(code, 0)
  t.match(out, /early .*\n.*shop .*Active/)
  const { out: whole } = await cli(['list', '--json'])
  t.notMatch(whole, /PRIVATE KEY/)
  t.match(await cli(['delete', 'early', '--yes']), { code: 0 })
  t.match(JSON.parse((await cli(['list', '--json'])).out), [{ name: 'shop', domains: names }])
}
