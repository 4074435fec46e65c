/** Which cache on this host an agent belongs to, and which secret it uses without a setting. */
import t from 'tap'
import { vinyl } from '../../protocol/product.js'
import {
  chooseCache,
  listRunningCaches,
  parseCommandLine,
  readRunningCache,
} from '../../src/agent/host/running-caches.js'
import { findSecretFile } from '../../src/agent/host/secret-file.js'
import { startVarnishd } from '../support/varnishd.js'

void t.test('options are parsed as the program parses them, joined or separate', (t) => {
  const words = ['/usr/sbin/vinyld', '-Fn', 'edge', '-S/etc/s', '-T', ':6082', '-Tlocalhost:7000']
  t.match(parseCommandLine(7, [...words, '-a', ':80', '-p', 'default_ttl=1', '']), {
    pid: 7,
    product: vinyl,
    program: '/usr/sbin/vinyld',
    managementPorts: [':6082', 'localhost:7000'],
    listenAddresses: [':80'],
    secretFile: '/etc/s',
    workingDirectory: '/var/lib/vinyl-cache/edge',
  })
  t.match(parseCommandLine(8, ['varnishd', '-n', '/srv/a', '-n', '/srv/b']), {
    managementPorts: [],
    secretFile: null,
    workingDirectory: '/srv/b',
  })
  t.match(parseCommandLine(9, ['/usr/sbin/varnishd', '-n', 'edge'], '/usr/sbin/vinyld'), {
    product: vinyl,
    workingDirectory: '/var/lib/vinyl-cache/edge',
  })
  t.equal(parseCommandLine(9, ['/usr/bin/varnishlog', '-n', '/srv/a']), null)
  t.equal(parseCommandLine(9, ['']), null)
  t.end()
})

void t.test('the cache on the management port is chosen, else none', (t) => {
  const [first, second] = [':6082', '127.0.0.1 7000'].map((port, index) => {
    const cache = parseCommandLine(index, ['varnishd', '-T', port])
    if (cache === null) throw new Error('it is a cache')
    return cache
  })
  if (first === undefined || second === undefined) throw new Error('there are two')
  t.equal(chooseCache([first, second], 6082), first)
  t.equal(chooseCache([first, second], 7000), second)
  t.equal(chooseCache([first, second], 608), null)
  t.equal(chooseCache([first], 608), first, 'a single cache whose command line lacks the port')
  t.equal(chooseCache([first, first], 6082), null)
  t.equal(chooseCache([], 6082), null)
  t.end()
})

void t.test('a running cache is found with its folder and its secret', async (t) => {
  const cache = await startVarnishd(t)
  const found = (await listRunningCaches()).filter((one) => one.workingDirectory === cache.workDir)
  t.equal(found.length, 1, 'its child is not listed separately')
  const [one] = found
  if (one === undefined) return
  t.match(await readRunningCache(one.pid), { workingDirectory: cache.workDir })
  t.equal(await findSecretFile(cache.port), cache.secretFile)
  t.equal(await readRunningCache(process.pid), null, 'this process is not a cache')
})

void t.test('without a cache the secret file of an installed product is used', async (t) => {
  t.match(await findSecretFile(null), /^\/etc\/(?:varnish|vinyl-cache)\/secret$/)
})
