/** `cachefleet apply` with the example folder: a coordinator, an agent and a real cache, from nothing and back. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { call, makeHome, run, type Ran } from '../cli/run-cli.js'
import { startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { root } from '../support/root.js'
import { ask } from './origin.js'
import { parallel } from '../support/parallel.js'
import { agentName, startHarness, untilAgent, type Harness } from './harness.js'

const example = join(root, 'config/example-fleet')
const host = 'news.example'

interface Fixture {
  readonly harness: Harness
  readonly folder: string
  readonly apply: (...words: string[]) => Promise<Ran>
  /** With the installed program. */
  readonly applyAsInstalled: (...words: string[]) => Promise<Ran>
  /** Edits a file of the folder. */
  readonly edit: (file: string, from: string | RegExp, to: string) => Promise<void>
  /** All calls except GETs, oldest first, from the last marker to a new one. */
  readonly readCalls: () => Promise<readonly string[]>
}

async function startFixture(t: Test, agentWords: readonly string[] = []): Promise<Fixture> {
  const harness = await startHarness(t, { heartbeatSeconds: 30, agentWords })
  await untilAgent(harness, 'Running')
  const { base, api } = harness.coordinator
  const home = await makeHome(t)
  const environment = { ...home, CACHEFLEET_SERVER: base, CACHEFLEET_TOKEN: api.token }
  const folder = await makeFolder(t)
  await cp(example, folder, { recursive: true })
  let read = 0
  return {
    harness,
    folder,
    apply: (...words) => call(['apply', '-f', folder, ...words], { environment }),
    applyAsInstalled: (...words) => run(['apply', '-f', folder, ...words], { environment }),
    edit: async (file, from, to) => {
      const path = join(folder, file)
      const text = await readFile(path, 'utf8')
      const edited = text.replace(from, to)
      if (edited === text) throw new Error(`${file} has no ${String(from)}`)
      await writeFile(path, edited)
    },
    readCalls: async () => {
      await api.makeTag(`marker-${read}`)
      return eventually('the marker is in the API log', async () => {
        const { text } = await api.call('GET', '/apilogs?sort=id')
        const all = JSON.parse(text) as { method: string; path: string; keyId: number }[] // its schema
        const calls = all.map(({ method, path }) => `${method} ${path.replace('/api/v1', '')}`)
        const markers = calls.flatMap((one, at) => (one === 'POST /tags' ? [at] : []))
        const [before = -1, last] = [markers[read - 1], markers[read]]
        if (last === undefined) return undefined
        read++
        return calls.slice(before + 1, last)
      })
    },
  }
}

async function makeFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-apply-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** In parallel: each test has its own coordinator. */
t.jobs = 2

void t.test('the example folder, from nothing to a site and back', parallel(), async (t) => {
  const { harness, folder, apply, applyAsInstalled, edit, readCalls } = await startFixture(t, [
    '--tests',
  ])
  const { cache } = harness
  const bodyOf = async (): Promise<string> => (await ask(cache, host)).body
  await readCalls()

  await t.test(
    'a plan shows what would be created and where it would be placed, and creates nothing',
    async (t) => {
      const { code, out, err } = await applyAsInstalled('--plan')
      t.match({ code, err }, { code: 2, err: '' })
      for (const name of ['news.vcl', 'greeting.vcl', 'news.example', 'news'])
        t.match(out, new RegExp(`^\\+ create \\w+ "${name}"$`, 'm'))
      t.match(
        out,
        new RegExp(`^> deploy vclgroup "news"\\n.*\\n    \\+ ${agentName} \\(news\\)$`, 'm'),
      )
      t.match(out, /^6 to create, 1 to deploy$/m)
      t.same(await readCalls(), ['POST /vclgroups/placement', 'POST /files/compile'])
    },
  )

  await t.test('the first run creates and deploys it, and a second makes no call', async (t) => {
    t.match(await apply('--wait', '300'), {
      code: 0,
      err: '',
      out: /deploy vclgroup "news": done\n$/,
    })
    t.equal(await bodyOf(), 'Hello from the news\n')
    await readCalls()
    t.match(await apply(), { code: 0, err: '', out: 'nothing to change\n' })
    t.match(await apply('--plan', '--prune'), { code: 0, out: 'nothing to change\n' })
    t.same(await readCalls(), [])
  })

  await t.test('an edited VCL is shown as a diff, and deployed', async (t) => {
    await edit('vcl/greeting.vcl', 'from the news', 'again')
    const { out } = await apply('--plan')
    t.match(out, /^~ change file "greeting.vcl"$/m)
    t.match(
      out,
      /^ {4}- {2}set resp.body = "Hello from the news" \+ \{"\n {4}\+ {2}set .*"Hello again"/m,
    )
    t.match(out, /^> deploy vclgroup "news"\n {4}its sources changed$/m)
    t.equal(await bodyOf(), 'Hello from the news\n')
    t.match(await apply('--wait', '300'), { code: 0 })
    t.equal(await bodyOf(), 'Hello again\n')
  })

  await t.test('a VCL that does not compile changes nothing, and its line is named', async (t) => {
    await readCalls()
    await edit('vcl/greeting.vcl', 'resp.body', 'resp.nonsense')
    const { code, out, err } = await apply()
    t.match({ code, out }, { code: 1, out: '' })
    t.match(err, /^cachefleet: fleet.yaml line \d+: vclgroup "news" does not compile; nothing was/)
    t.match(err, /^greeting.vcl line 3 pos \d+: Symbol not found: 'resp.nonsense'$/m)
    t.same(await readCalls(), ['POST /vclgroups/placement', 'POST /files/compile'])
    t.equal(await bodyOf(), 'Hello again\n')
    await edit('vcl/greeting.vcl', 'resp.nonsense', 'resp.body')
  })

  await t.test('a failed run reports its progress, and the next run continues', async (t) => {
    await edit('fleet.yaml', 'tags: [web]', 'tags: [web, nowhere]')
    await edit('fleet.yaml', 'kind: domain', 'kind: tag\nname: nowhere\n---\nkind: domain')
    const { code, out, err } = await apply()
    t.match({ code, out }, { code: 1, out: 'create tag "nowhere": done\n' })
    t.match(err, /change deployment "news": .*min.*; 1 of 2 steps were done\. A second run goes on/)
    await edit('fleet.yaml', 'tags: [web, nowhere]', 'tags: [web]')
    t.match(await apply(), { code: 0, out: 'nothing to change\n' })
  })

  await t.test('a group that was undeployed by hand is deployed again', async (t) => {
    const [group] = JSON.parse((await harness.api.call('GET', '/vclgroups')).text) as {
      id: number
    }[]
    await harness.api.act(group?.id ?? 0, 'undeploy', '?wait=300')
    t.match(await apply('--wait', '300'), { code: 0, out: /^news: Active, revision 3, 1 of 1/ })
    t.equal(await bodyOf(), 'Hello again\n')
  })

  await t.test('--prune removes objects without a document, and nothing else', async (t) => {
    await harness.api.makeFile('by-hand.vcl', 'vcl 4.1;')
    await writeFile(join(folder, 'fleet.yaml'), '{kind: set, name: example-fleet}')
    t.match(await apply(), { code: 0, out: 'nothing to change\n' })
    t.match(await apply('--prune'), {
      code: 2,
      err: /--yes is needed to undeploy vclgroup "news", delete /,
    })
    t.equal(await bodyOf(), 'Hello again\n')
    t.match(await apply('--prune', '--yes', '--wait', '300'), { code: 0 })
    t.equal((await ask(cache, host)).status, 503, 'nothing is deployed')
    for (const [path, left] of [
      ['/vclgroups', []],
      ['/deployments', []],
      ['/domains', []],
      ['/files', ['by-hand.vcl']],
    ] as const) {
      const objects = JSON.parse((await harness.api.call('GET', path)).text) as { name: string }[]
      t.same(
        objects.map(({ name }) => name),
        left,
      )
    }
    t.ok(await harness.api.findTag('web'), 'a tag that the agent reports remains')
  })
})

void t.test(
  'a deploy continues after the wait, and the exit code is that of the run',
  parallel(),
  async (t) => {
    const { base, api } = await startCoordinator(t, {
      words: [
        ...['--no-agent', '--heartbeat', '30', '--tags', 'web'],
        ...['--simulate', '1', '--simulate-compile-ms', '2000'],
      ],
    })
    await eventually('an agent is Running', async () =>
      (await api.listAgents()).some(({ stateName }) => stateName === 'Running'),
    )
    const home = await makeHome(t)
    const environment = { ...home, CACHEFLEET_SERVER: base, CACHEFLEET_TOKEN: api.token }
    const folder = await makeFolder(t)
    await writeFile(
      join(folder, 'site.yaml'),
      `
- { kind: file, name: main.vcl, source: "vcl 4.1; backend default none;" }
- { kind: deployment, name: web, tags: [web] }
- { kind: vclgroup, name: site, mainVCL: main.vcl, deployments: [web], deployed: true }`,
    )
    const apply = (...words: string[]): Promise<Ran> =>
      call(['apply', '-f', folder, ...words], { environment })
    const late = await apply('--wait', '1')
    t.match(late, { code: 4, err: /^cachefleet: site is Deploying\n$/ })
    t.match(late.out, /create vclgroup "site": done\nsite: Deploying[^]*still loading after 1 s/)
    t.match(await apply('--wait', '300'), { code: 0 }, 'the next run waits for it')
    t.match(await apply(), { code: 0, out: 'nothing to change\n' })
  },
)
