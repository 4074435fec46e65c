/** Each quirk applies as in the table, on a simulated cache of each release and on the real one that comes first in PATH. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { hasQuirk, quirkNames, quirks, type QuirkName } from '../../protocol/quirks.js'
import { parseBanner } from '../../protocol/release.js'
import { readRelease } from '../support/cache-program.js'
import { eventually } from '../support/eventually.js'
import { root } from '../support/root.js'
import { createSimulatedEngine } from '../support/simulated-engine.js'
import { startVarnishd } from '../support/varnishd.js'
import { openTcp, RawClient } from './simulator/raw-client.js'
import { inline, local } from './simulator/script-steps.js'

/** One of each branch, and the releases on both sides of a change. */
const simulated = [
  ...['6.0.0', '6.0.17', '6.1.1', '6.2.3', '6.5.1', '6.6.2', '7.0.3', '7.1.1', '7.2.1', '7.4.3'],
  ...['7.5.0', '7.6.5', '7.7.0', '8.0.1', '9.0.2', 'vinyl-9.0.1'],
]

/** Returns whether this cache has the quirk, on the management port. */
type Probe = (client: RawClient) => Promise<boolean>

const vcl = `vcl 4.0; ${local}`

/** Probes that kill the child come last. */
const probes = {
  joinsStates: async (client) => /auto\/warm/.test((await ask(client, 'vcl.list')).body),
  listsUnsetAsProbed: async (client) =>
    /^boot\.default +probe /m.test((await ask(client, 'backend.list')).body),
  refusesJsonBackends: async (client) => (await ask(client, 'backend.list -j')).status === 102,
  lacksBanAges: async (client) => (await ask(client, 'ban obj.age > 1h')).status === 106,
  refusesQuotedNeighbours: async (client) =>
    (await ask(client, 'vcl.show "-v" "boot"')).status === 100,
  namesBuiltinPlainly: async (client) =>
    /^\/\/ VCL\.SHOW \d+ \d+ Builtin$/m.test((await ask(client, 'vcl.show -v boot')).body),
  printsBitsInWords: async (client) => {
    await mustDo(client, 'param.set feature +http2')
    return /Value is: none,/.test((await ask(client, 'param.show feature')).body)
  },
  discardsOneName: async (client) => {
    for (const name of ['q1', 'q2']) await mustDo(client, inline(name, vcl))
    return (await ask(client, 'vcl.discard q1 q2')).status !== 200
  },
  shownLabelKillsChild: async (client) => {
    await mustDo(client, 'vcl.label shown boot')
    return isDeadly(client, 'vcl.show shown')
  },
  patternKillsChild: (client) => isDeadly(client, 'backend.list *.*'),
} satisfies Partial<Record<QuirkName, Probe>>

/** Quirks of the program's command line and processes, which a simulated cache lacks. */
const others: readonly QuirkName[] = [
  'refusesAliases',
  'protectsAliasesApart',
  'waitsForReferences',
  'countsHardPurgesOnly', // test/agent/purge.test.ts
  'opensBootFileAsUser', // test/agent/settings.test.ts
]

void t.test('each row has a probe, and docs/releases.md lists its fact, answer and source', (t) => {
  t.same(quirkNames.toSorted(), [...Object.keys(probes), ...others].toSorted())
  const page = readFileSync(join(root, 'docs/releases.md'), 'utf8').replace(/ +/g, ' ')
  for (const { releases, fact, answer, source } of Object.values(quirks)) {
    t.ok(releases.length > 0)
    t.match(page, ` | ${fact} | ${answer} | ${source} |`, 'matches docs/releases.md')
  }
  t.end()
})

void t.test('a build without a version gets the safe assumptions', (t) => {
  for (const version of [null, '']) {
    t.equal(hasQuirk(version, 'patternKillsChild'), true)
    t.equal(hasQuirk(version, 'shownLabelKillsChild'), true)
    t.equal(hasQuirk(version, 'discardsOneName'), false)
  }
  const safe = ['6.0.0', '6.0.17', '6.6.2', '7.0.0', '7.5.0', '8.0.0', '8.0.1', '9.0.2', '10.1.0']
  for (const version of safe) t.notOk(hasQuirk(version, 'patternKillsChild'), version)
  for (const version of ['7.6.0', '7.6.5', '7.7.0', '7.7.3', '5.2.1'])
    t.ok(hasQuirk(version, 'patternKillsChild'), version)
  t.end()
})

for (const name of simulated)
  void t.test(`a simulated ${name} has what the table says`, async (t) => {
    const engine = createSimulatedEngine({ version: name, bootVcl: vcl })
    t.teardown(() => {
      engine.close()
    })
    const client = new RawClient(engine.connect())
    await client.next()
    await checkAll(t, client)
  })

void t.test('the real cache has the quirks of the table', async (t) => {
  const cache = await startVarnishd(t, { vcl, secret: null })
  const client = await openTcp(cache.port)
  t.teardown(() => {
    client.close()
  })
  await client.next()
  await checkAll(t, client)
})

void t.test('the protection of parameters follows the table', async (t) => {
  const { version } = readRelease()
  const start = (name: string) => startVarnishd(t, { vcl: null, args: ['-r', name] })
  const alias = 'vcc_allow_inline_c'
  const refuses = await start(alias).then(
    () => false,
    (error: unknown) => String(error).includes('Cannot mark alias'),
  )
  t.equal(refuses, hasQuirk(version, 'refusesAliases'))
  const cache = await start('vcc_feature').catch(String)
  if (typeof cache === 'string') t.match(cache, /Unknown parameter vcc_feature/)
  const isOpen =
    typeof cache !== 'string' &&
    (await cache.adm('param.set', alias, 'on').then(
      () => true,
      () => false,
    ))
  t.equal(isOpen, hasQuirk(version, 'protectsAliasesApart'))
})

const headers = { connection: 'close' }
/** Ten times as long as other releases need. */
const waitMs = 5_000

void t.test('stopping a child that has served follows the table', async (t) => {
  // Idle workers hold a VCL, as they do without the setting of tests.
  const cache = await startVarnishd(t, { secret: null, args: ['-p', 'debug=none'] })
  const client = await openTcp(cache.port)
  await client.next()
  // Read to the end, so that its worker is idle.
  await (await fetch(`http://${cache.host}:${cache.httpPort}/`, { headers })).text()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, waitMs, 'late')
  })
  const answer = await Promise.race([client.ask('stop'), late])
  clearTimeout(timer)
  t.equal(answer === 'late', hasQuirk(readRelease().version, 'waitsForReferences'))
  client.close()
  await cache.stop('SIGKILL')
})

async function checkAll(t: Test, client: RawClient): Promise<void> {
  const { version } = parseBanner((await ask(client, 'banner')).body)
  for (const [name, probe] of Object.entries(probes))
    t.equal(await probe(client), hasQuirk(version, name as QuirkName), name) // a key of the table
}

/** Also waits for the next child. */
async function isDeadly(client: RawClient, line: string): Promise<boolean> {
  const { status } = await ask(client, line)
  if (status !== 400) return false
  await eventually('a new child', async () => {
    const { status, body } = await ask(client, 'vcl.list')
    return status === 200 && body !== ''
  })
  return true
}

async function mustDo(client: RawClient, line: string): Promise<void> {
  const { status, body } = await ask(client, line)
  if (status !== 200) throw new Error(`${line}: ${status} ${body}`)
}

async function ask(client: RawClient, line: string) {
  const reply = await client.ask(line)
  if (reply === 'closed') throw new Error(`${line}: the cache closed the connection`)
  return reply
}
