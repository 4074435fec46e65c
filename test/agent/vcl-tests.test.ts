/** Tests of VCL on an agent: run beside its cache, kept from its host, ended at their bounds with all that they started. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { listCheckFolders } from '../../src/agent/check/check-folder.js'
import type { TestAnswer, TestOrder } from '../../src/messages/vcl-test.js'
import { hasPassed, listFailures } from '../../src/resources/vcl-test-result.js'
import { renderPrologue, purgeSecret } from '../../src/vcl/prologue.js'
import { eventually } from '../support/eventually.js'
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
    return answer.value as TestAnswer // of an agent of ours
  }
  return { coordinator, cache, agent, run }
}

/** Of private caches of this agent, their tools, and what they wait for. */
async function listProcesses(stateDir: string): Promise<readonly string[]> {
  const mark = createHash('sha256').update(`tests of ${stateDir}`).digest('hex').slice(0, 12)
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const words = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  )
  return words.filter((line) => line.includes(`cachefleet-check-${mark}-`))
}

void t.test('a test runs as the group would, and tells what failed with its log', async (t) => {
  const { cache, coordinator, run } = await startAll(t)
  t.ok((await coordinator.hello()).capabilities.includes('tests'))
  const before = await listVcls(cache)
  const cacheKey = '0'.repeat(32)
  const vcl = site.replace('vcl 4.1;\n', `vcl 4.1;\n${renderPrologue({ groupId: 7, cacheKey })}`)
  const routed = { domains: ['shop.example'], purgeSecret: purgeSecret(cacheKey) }
  const rule =
    'backends: {default: [{respond: {headers: {Cache-Control: max-age=60}, body: hi}}]}\n'
  const { result, error } = await run({
    ...{ vcl, routed },
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
  t.match(broken.result?.trouble, /'<vcl.inline>' Line 4 Pos 1/, 'in the words of the compiler')
  t.same(await listVcls(cache), before, 'the live cache was asked for nothing')
})

/** What a test does that wants more than it may have, and how it ends. */
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
    does: 'fills the memory',
    vcl: `vcl 4.1;
backend default { .host = "www.example.com"; }
sub vcl_recv { set req.url = "/" + req.xid; return (hash); }
sub vcl_backend_error { set beresp.status = 200; set beresp.ttl = 1h; synthetic({"${'x'.repeat(1_500_000)}"}); return (deliver); }
`,
    test: `steps: [{repeat: 250, steps: [{request: {url: /}, expect: {status: 200}}]}]\n`,
    ends: /step \d+: /,
  },
]

void t.test('what a hostile test wants ends at its bounds, and leaves nothing', async (t) => {
  const { agent, run } = await startAll(t)
  for (const { does, ends, ...asked } of hostile) {
    const { result, error } = await run(asked)
    t.match(result ? listFailures(result).join('\n') : error, ends, does)
    t.same(await listCheckFolders(`tests of ${agent.stateDir}`), [], `${does}: no folder is left`)
    const isGone = async () => (await listProcesses(agent.stateDir)).length === 0
    await eventually(`${does}: no process is left`, isGone)
  }
})
