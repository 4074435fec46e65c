/** Decisions of enrolling that need no access to a host. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { parse } from 'yaml'
import { parseCommandLine, type RunningCache } from '../../src/agent/host/running-caches.js'
import { findSkew } from '../../src/enroll/ask-coordinator.js'
import {
  chooseCache,
  findHttpAddress,
  findManagementAddress,
  requireKnownRelease,
} from '../../src/enroll/choose-cache.js'
import { clearState, nameAgent } from '../../src/enroll/enroll-host.js'
import { readEnrollWords } from '../../src/enroll/enroll-words.js'
import { addSettings, takeOutSettings } from '../../src/enroll/settings-text.js'
import { findAgentNameProblem } from '../../src/resources/names.js'
import { makeStateDir, runDaemon } from '../support/daemon.js'

function cacheOf(...words: readonly string[]): RunningCache {
  const cache = parseCommandLine(7, ['/usr/sbin/varnishd', ...words])
  if (cache === null) throw new Error('it is a cache')
  return cache
}

void t.test('an address is accepted in a browser’s form and in an agent’s', (t) => {
  const url = (text: string): string => readEnrollWords([text]).coordinatorUrl
  t.equal(url('https://fleet.example:8002/'), 'wss://fleet.example:8002')
  t.equal(url('wss://one:8002,https://two:8002'), 'wss://one:8002,wss://two:8002')
  t.equal(url('http://[::1]:8002'), 'ws://[::1]:8002')
  t.equal(url('https://proxy.example/fleet/'), 'wss://proxy.example/fleet')
  for (const wrong of ['fleet.example:8002', 'ftp://fleet', 'https://a:b@fleet', 'https://fleet?x'])
    t.throws(() => url(wrong), /is not the address of a coordinator; it must be like https:/, wrong)
  t.throws(() => readEnrollWords(['https://fleet', 'cf1.token']), /is never an argument/)
  t.throws(() => readEnrollWords([]), /usage: cachefleetd enroll URL/)
  t.throws(
    () => readEnrollWords(['https://fleet', '--instance', '../x']),
    /--instance: it must have up to 31/,
  )
  t.throws(() => readEnrollWords(['https://fleet', '--tokn', 'x']), /'--tokn'/)
  t.match(readEnrollWords(['--instance', 'edge', 'https://fleet', '--token-file', '/t']), {
    instance: 'edge',
    tokenFile: '/t',
  })
  t.end()
})

void t.test('of several caches the named one is chosen, and none is guessed', (t) => {
  const [plain, edge, shop] = [cacheOf(), cacheOf('-n', 'edge'), cacheOf('-n', '/srv/shop')]
  t.equal(chooseCache([plain], null), plain)
  t.equal(chooseCache([plain], 'edge'), plain, 'the only one, though it has no name')
  t.equal(chooseCache([plain, edge, shop], 'shop'), shop)
  t.throws(() => chooseCache([], null), /no cache runs on this host/)
  t.throws(
    () => chooseCache([edge, shop], null),
    /several caches run here \(pid 7: varnishd -n .*--instance NAME/,
  )
  t.throws(() => chooseCache([edge], 'shop'), /no cache that runs here has a -n that ends in shop/)
  t.throws(() => chooseCache([cacheOf('-n', '/a/x'), cacheOf('-n', '/b/x')], 'x'), /more than one/)
  t.end()
})

void t.test('addresses are parsed from the command line as the cache parses them', (t) => {
  const port = (...words: readonly string[]): string => findManagementAddress(cacheOf(...words))
  t.equal(port('-T', 'localhost:6082'), 'localhost:6082')
  t.equal(port('-T:6082'), '127.0.0.1:6082')
  t.equal(port('-T', '/run/cli', '-T', '[::1]:6083'), '[::1]:6083')
  t.equal(port('-T', '0.0.0.0 6084'), '127.0.0.1:6084')
  for (const words of [[], ['-T', 'none'], ['-T', 'localhost:0'], ['-T', 'localhost']])
    t.throws(() => port(...words), /no management port of a fixed number: start it with -T/)

  const http = (...addresses: readonly string[]): string | null =>
    findHttpAddress(cacheOf(...addresses.flatMap((address) => ['-a', address])))
  t.equal(http(':6081'), '127.0.0.1:6081')
  t.equal(http('/run/http.sock', ':8443,PROXY', 'public=192.0.2.7:80,HTTP'), '192.0.2.7:80')
  t.equal(http('0.0.0.0'), '127.0.0.1:80')
  t.equal(http('[::]:6081'), '[::1]:6081')
  t.equal(http(':443,https'), null)
  t.equal(http(), null)
  t.end()
})

void t.test('caches of unknown releases are refused', (t) => {
  for (const [product, version] of [
    ...[
      ['varnish', '6.0.17'],
      ['varnish', '7.1.1'],
      ['varnish', '9.0.2'],
      ['vinyl', '9.0.1'],
    ],
  ] as const)
    t.doesNotThrow(() => {
      requireKnownRelease(product, version)
    })
  for (const [product, version] of [
    ['varnish', '4.1.11'],
    ['varnish', '10.0.0'],
    ['vinyl', '8.0.0'],
    ['squid', '6.0.0'],
    ['varnish', null],
    ['', null],
  ] as const)
    t.throws(() => {
      requireKnownRelease(product, version)
    }, /cachefleet knows Varnish 6\.0 to 9\.x and Vinyl Cache 9\.x/)
  t.end()
})

void t.test('clocks may differ by a minute', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: -7_200_000, max: 7_200_000 }), (offset) => {
      const problem = findSkew(1e12 + offset, 1e12)
      if (Math.abs(offset) <= 60_000) return problem === null
      return problem?.includes(offset < 0 ? 's behind the' : 's ahead of the') === true
    }),
  )
  t.equal(findSkew(0, null), null, 'a proxy may omit the time')
  t.end()
})

const values = { coordinatorUrl: 'wss://fleet:8002', engineName: '/var/lib/x: #y' }

void t.test('existing settings and comments of a file stay', (t) => {
  const text =
    '# Ours.\n\n# coordinatorUrl: wss://example\ntags: [web, eu] # by hand\nengine-name: old\n'
  const added = addSettings('f', text, { values, defaults: { name: 'edge', tags: 'no' } })
  t.match(added, /^# Ours\.\n\n# coordinatorUrl: wss:\/\/example\ntags: \[web, eu\] # by hand\n/)
  t.same(parse(added), { tags: ['web', 'eu'], ...values, name: 'edge' })
  t.same(parse(takeOutSettings('f', added, ['engineName', 'name'])), {
    tags: ['web', 'eu'],
    coordinatorUrl: values.coordinatorUrl,
  })
  for (const empty of [null, '', '# only a comment\n'])
    t.same(parse(addSettings('f', empty, { values, defaults: {} })), values)
  for (const name of ['coordinatorUrl', 'coordinator-url'])
    t.throws(
      () => addSettings('f', `${name}: wss://other\n`, { values, defaults: {} }),
      /f enrols at wss:\/\/other already/,
    )
  t.throws(() => addSettings('f', 'a: [', { values, defaults: {} }), /f cannot be read as settings/)
  t.throws(
    () => addSettings('f', '- a\n', { values, defaults: {} }),
    /it must hold names with values/,
  )
  t.end()
})

void t.test('any value that is set reads back unchanged', (t) => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('name', 'engineName', 'tlsDir'), fc.string()),
      (set) => {
        t.same(parse(addSettings('f', '# c\n', { values: set, defaults: {} })) ?? {}, { ...set })
      },
    ),
  )
  t.end()
})

void t.test('agents of several caches on a host have valid names of their own', (t) => {
  t.equal(nameAgent('web-1.example.com', 'edge'), 'web-1-example-com-edge')
  fc.assert(
    fc.property(
      fc.domain(),
      fc.stringMatching(/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,29}[A-Za-z0-9])?$/),
      (host, instance) => {
        const name = nameAgent(host, instance)
        return name.endsWith(`-${instance}`) && findAgentNameProblem(name, 52) === null
      },
    ),
  )
  t.end()
})

void t.test(
  'undoing removes new state, but no earlier files and no VCL without another copy',
  async (t) => {
    const folder = await makeStateDir(t)
    const stateDir = join(folder, 'state')
    const fill = async (saved: boolean): Promise<void> => {
      await mkdir(join(stateDir, 'foreign'), { recursive: true })
      await writeFile(join(stateDir, 'agent.key'), 'key')
      if (saved) await writeFile(join(stateDir, 'foreign', 'boot.vcl'), 'vcl 4.1;')
    }
    await fill(false)
    await clearState(stateDir, null)
    t.same(await readdir(folder), [])
    await fill(true)
    await clearState(stateDir, null)
    t.same(await readdir(stateDir), ['foreign'])
    await fill(true)
    await writeFile(join(stateDir, 'mine'), '')
    await clearState(stateDir, ['mine', 'foreign'])
    t.same((await readdir(stateDir)).toSorted(), ['foreign', 'mine'])
  },
)

void t.test('an invalid call ends with its exit code', async (t) => {
  t.match(await runDaemon(['enroll']), { code: 78, errors: /usage: cachefleetd enroll URL/ })
  t.match(await runDaemon(['enroll', 'https://127.0.0.1:1'], { input: '' }), {
    code: 1,
    errors:
      /^cachefleetd: (there is no join token: give it on standard input.*|this is for root.*)\n$/,
  })
})
