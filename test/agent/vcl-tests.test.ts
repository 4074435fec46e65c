/** VCL tests on an agent: run beside its cache, isolated from its host, and ended at their limits with all they started. */
import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { findContainment, type FoundContainment } from '../../src/agent/tests/containment.js'
import { lockHost } from '../../src/agent/tests/host-lock.js'
import { findReach } from '../../src/agent/tests/vcl-tester.js'
import { listCheckFolders } from '../../src/agent/check/check-folder.js'
import type { TestAnswer, TestOrder } from '../../src/messages/vcl-test.js'
import { hasPassed, listFailures } from '../../src/resources/vcl-test-result.js'
import { renderPrologue, purgeSecret } from '../../src/vcl/prologue.js'
import { eventually } from '../support/eventually.js'
import { root } from '../support/root.js'
import { startVarnishd } from '../support/varnishd.js'
import { listVcls } from '../support/observe-cache.js'
import { startCoordinatorEnd } from './coordinator-end.js'
import { attachTo, runTestAgent } from './run-agent.js'

const getRoot = 'steps: [{request: {url: /}, expect: {status: 200}}]\n'
const site = `vcl 4.1;
backend default { .host = "www.example.com"; }
sub vcl_deliver { set resp.http.X-Marker = "site"; }
`

interface Asked extends Partial<Omit<TestOrder, 'kind' | 'sha' | 'file'>> {
  readonly vcl: string
  readonly test: string
}

async function startAll(t: Test) {
  const coordinator = await startCoordinatorEnd(t)
  const cache = await startVarnishd(t)
  const agent = await runTestAgent(t, coordinator, attachTo(cache), { tests: true })
  await eventually('linked', () => agent.isLinked())
  const run = async ({ vcl, test, ...more }: Asked): Promise<TestAnswer> => {
    const limits = { waitMs: 60_000, limitMs: 60_000 }
    const file = { name: 'a.test.yaml', text: test }
    const order = { kind: 'test', group: 7, routed: null, file, ...limits, ...more } as const
    const answer = await coordinator.ask({ ...order, sha: coordinator.publish(vcl) })
    if (answer.result !== 'done') throw new Error(answer.error ?? '')
    return answer.value as TestAnswer // from our own agent
  }
  return { coordinator, cache, agent, run }
}

interface TestProcess {
  readonly words: string
  readonly nice: number
  /** Limit of its writable memory. */
  readonly dataBytes: number
}

/** The private caches of this agent, their tools and helper processes. */
async function listProcesses(stateDir: string): Promise<readonly TestProcess[]> {
  const mark = createHash('sha256').update(`tests of ${stateDir}`).digest('hex').slice(0, 12)
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid): Promise<TestProcess[]> => {
      const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
      const words = (await read('cmdline')).replaceAll('\0', ' ')
      if (!words.includes(`cachefleet-check-${mark}-`)) return []
      const [, dataBytes] = /^Max data size +(\d+)/m.exec(await read('limits')) ?? []
      // proc(5): the 19th field; the first after the name is the third.
      const nice = (await read('stat')).split(') ').at(-1)?.split(' ')[16]
      return nice === undefined ? [] : [{ words, nice: Number(nice), dataBytes: Number(dataBytes) }]
    }),
  )
  return found.flat()
}

void t.test('a test runs the VCL as the group would, and logs its failures', async (t) => {
  const { cache, coordinator, run } = await startAll(t)
  t.ok((await coordinator.hello()).capabilities.includes('tests'))
  const before = await listVcls(cache)
  const cacheKey = '0'.repeat(32)
  const vcl = site.replace('vcl 4.1;\n', `vcl 4.1;\n${renderPrologue({ groupId: 7, cacheKey })}`)
  const routed = { domains: ['shop.example'], purgeSecret: purgeSecret(cacheKey) }
  const rule =
    'backends: {default: [{respond: {headers: {Cache-Control: max-age=60}, body: hi}}]}\n'
  const { result, error } = await run({
    vcl,
    routed,
    test: `name: promises
${rule}steps:
  - request: {url: /}
    expect: {status: 200, body: hi, headers: {X-Marker: site}}
  - request: {url: /}
    expect: {handling: hit}
  - advance: 100
  - purge: http://shop.example/
  - request: {url: /}
    expect: {handling: hit}
  - request: {url: /, host: other.example}
    expect: {status: 200}
`,
  })
  if (result === null) throw new Error(error ?? '')
  const failures = listFailures(result)
  t.same(failures[0], 'a.test.yaml line 10: step 5: expected handling hit, got miss')
  t.match(failures[1], /GET \/, in the log of the cache:/)
  t.ok(failures.some((line) => /VCL_call +MISS/.test(line)))
  t.ok(failures.some((line) => line.startsWith('a.test.yaml line 12: step 6: expected status 200')))
  t.notOk(failures.join().includes('X-Cachefleet-'))
  t.notOk(hasPassed(result))

  const passing = await run({ vcl: site, test: `${rule}${getRoot}` })
  t.ok(passing.result && hasPassed(passing.result))

  const broken = await run({ vcl: `${site}nonsense\n`, test: getRoot })
  t.match(broken.result?.trouble, /'<vcl.inline>' Line 4 Pos 1/, 'in the compiler’s words')
  t.same(await listVcls(cache), before, 'the live cache is unchanged')
})

const readsFile = site.replace(
  'vcl 4.1;',
  'vcl 4.1;\nimport std;\nsub vcl_recv { set req.http.x = std.fileread("/proc/self/status"); }',
)
const breach = 'site.vcl line 3 pos 33: VCL of an organization may not use std.fileread'

void t.test('tests cannot reach the host, or may not use VCL beyond the policy', async (t) => {
  const listener = createServer()
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.teardown(() => listener.close())
  const { port } = listener.address() as AddressInfo // it listens on TCP
  let connections = 0
  listener.on('connection', (socket) => {
    connections += 1
    socket.destroy()
  })
  const { run } = await startAll(t)
  const containment = await findContainment()
  const reading = await run({ vcl: readsFile, test: getRoot, breach })
  if ('missing' in containment) {
    t.match(reading, { result: null, unavailable: true, error: /may not use std.fileread; a test/ })
  } else {
    t.ok(reading.result, 'isolated VCL may do all that the compiler accepts')
    const dial = `require('net').connect(${port}, '127.0.0.1').on('error', () => process.exit(7))`
    const words = [...containment.words, process.execPath, '-e', dial]
    t.same(await once(spawn('nice', words), 'close'), [7, null], 'the host is unreachable')
  }
  const address = `.host = "127.0.0.1"; .port = "${port}";`
  const { result } = await run({
    vcl: site.replace('.host = "www.example.com";', address),
    test: getRoot,
  })
  t.match(result && listFailures(result).join(), /expected status 200, got 503/)
  t.equal(connections, 0, 'no backend is reached either')
})

void t.test('without kernel namespaces, VCL beyond the policy is not run', async (t) => {
  const words = [join(root, 'test/agent/find-containment.mjs')]
  const child = spawn('unshare', ['--user', '--map-root-user', '--', process.execPath, ...words])
  const output = await text(child.stdout)
  // The script prints nothing if it may not create its first namespace: then this process may not create one either.
  const found = output === '' ? await findContainment() : (JSON.parse(output) as FoundContainment) // its output
  t.match(found, { missing: /kernel makes no namespace/ })
  t.match(findReach(found, breach), /may not use std.fileread; a test may not go beyond that there/)
  t.equal(findReach(found, undefined), null, 'VCL within the policy is run')
  t.equal(findReach({ words: [], ip: '/ip', through: [] }, breach), null)
})

void t.test('one test runs at a time on a host, across agents', async (t) => {
  const { signal } = new AbortController()
  const first = await lockHost(60_000, signal)
  t.ok(first)
  t.equal(await lockHost(200, signal), null)
  const next = lockHost(60_000, signal)
  first?.release()
  const taken = await next
  t.ok(taken)
  taken?.release()
})

/** Tests that exceed their limits, and how each ends. */
const hostile: readonly (Asked & { readonly does: string; readonly ends: RegExp })[] = [
  {
    does: 'waits for longer than it has',
    vcl: site,
    test: `backends: {default: [{respond: {delayMs: 30000}}]}\n${getRoot}`,
    limitMs: 3_000,
    ends: /the time for tests is over/,
  },
  {
    does: 'asks for itself again and again',
    vcl: `${site}sub vcl_backend_response { set beresp.do_esi = true; set beresp.ttl = 0s; }\n`,
    test: `backends: {default: [{respond: {body: '${'<esi:include src="/"/>'.repeat(50)}'}}]}\n${getRoot}`,
    limitMs: 3_000,
    ends: /the time for tests is over/,
  },
  {
    does: 'keeps what it asks for, and answers all of it',
    vcl: `vcl 4.1;
backend default { .host = "www.example.com"; }
sub vcl_recv { set req.url = "/" + req.xid; return (hash); }
sub vcl_backend_response {
  set beresp.do_esi = true;
  set beresp.ttl = 1h;
  set beresp.storage = storage.Transient;
}
`,
    test: `backends: {default: [{respond: {body: '${'<esi:include src="/"/>'.repeat(50)}${'x'.repeat(50_000)}'}}]}\n${getRoot}`,
    ends: /the answer has more than 8388608 bytes/,
  },
]

void t.test('a hostile test ends at its limits and leaves nothing behind', async (t) => {
  const { agent, run } = await startAll(t)
  for (const { does, ends, ...asked } of hostile) {
    const running = run(asked)
    const seen = await eventually('its cache runs', async () => {
      const all = await listProcesses(agent.stateDir)
      return all.length >= 3 ? all : undefined
    })
    for (const { words, nice } of seen) t.equal(nice, 19, `${does}: ${words}`)
    const caches = seen.filter(({ words }) => words.includes('-S none'))
    t.ok(caches.length > 0 && caches.every(({ dataBytes }) => dataBytes === 256 << 20), does)
    const { result, error } = await running
    t.match(result ? listFailures(result).join('\n') : error, ends, does)
    t.same(await listCheckFolders(`tests of ${agent.stateDir}`), [], `${does}: no folder is left`)
    const isGone = async () => (await listProcesses(agent.stateDir)).length === 0
    await eventually(`${does}: no process is left`, isGone)
  }
})
