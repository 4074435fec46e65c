/** Deploys in the CLI, with their exit codes, and queries of agents: coordinator and agents are real processes. */
import t, { type Test } from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import type { AgentView, GroupView } from '../support/api-client.js'
import { makeStateDir, startCoordinator, startDaemon, type Daemon } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { checkUntested } from './untested-group.js'
import { call, endOf, makeHome, startClient, type Environment, type Ran } from './run-cli.js'

const main = 'vcl 4.1;\nbackend default none;\n'
const broken = 'vcl 4.1;\nbackend default none;\ninclude "no-such-include.vcl";\n'
/** Slow heartbeats: a stopped agent counts as hung, not Down, during these tests. */
const heartbeatSeconds = 60

interface Harness {
  readonly environment: Environment
  readonly simulated: readonly AgentView[]
  /** Two agent processes; tests stop the second. */
  readonly live: AgentView
  readonly hung: AgentView
  readonly hanging: Daemon
  readonly cli: (...words: string[]) => Promise<Ran>
  /** A root group on these agents, with a tag and a deployment of its own. */
  makeGroup(name: string, agents: readonly AgentView[], parts?: GroupParts): Promise<number>
  readGroup(id: number): Promise<GroupView>
}

interface GroupParts {
  readonly min?: number
  readonly source?: string
}

async function startHarness(t: Test): Promise<Harness> {
  const { api, base } = await startCoordinator(t, {
    words: ['--no-agent', '--simulate', '3', '--heartbeat', String(heartbeatSeconds)],
  })
  const environment = {
    ...(await makeHome(t)),
    CACHEFLEET_SERVER: base,
    CACHEFLEET_TOKEN: api.token,
  }
  await startAgentProcess(t, 'live')
  const hanging = await startAgentProcess(t, 'hung')
  const agents = await eventually('five agents run', async () => {
    const running = (await api.listAgents()).filter(({ stateName }) => stateName === 'Running')
    return running.length === 5 ? running : undefined
  })
  const named = (name: string): AgentView => {
    const found = agents.find((agent) => agent.name === name)
    if (!found) throw new Error(`no agent ${name}`)
    return found
  }
  return {
    environment,
    simulated: agents.filter(({ name }) => name.includes('-sim-')),
    live: named('live'),
    hung: named('hung'),
    hanging,
    cli: (...words) => call(words, { environment }),
    makeGroup: async (name, wanted, { min = 1, source = main } = {}) => {
      const tag = await api.makeTag(name)
      for (const { id, tags } of wanted) {
        const body = { tags: [...tags.map((one) => ({ id: one.id })), { id: tag }] }
        await api.call('PUT', `/agents/${id}`, body)
      }
      const mainFile = await api.makeFile(`${name}.vcl`, source)
      const deployment = await api.makeDeployment(name, tag, { min, max: wanted.length })
      return api.makeGroup({ name, mainFile, deployment })
    },
    readGroup: (id) => api.readGroup(id),
  }

  async function startAgentProcess(t: Test, name: string): Promise<Daemon> {
    const stateDir = await makeStateDir(t)
    return startDaemon(
      t,
      [
        ...['--coordinator-url', base.replace('http', 'ws'), '--state-dir', stateDir],
        ...['--name', name, '--engine', 'simulate'],
      ],
      { CACHEFLEET_JOIN_TOKEN: await api.makeJoinToken() },
    )
  }
}

/** Runs `work` while one agent process is stopped, then resumes it. */
async function whileHung(harness: Harness, work: () => Promise<void>): Promise<void> {
  harness.hanging.signal('SIGSTOP')
  try {
    await work()
  } finally {
    harness.hanging.signal('SIGCONT')
  }
}

async function undeploy(t: Test, harness: Harness, group: string): Promise<void> {
  await eventually(`${group} is undeployed`, async () => {
    const { code, err } = await harness.cli('vclgroups', 'undeploy', group, '--yes')
    if (code !== 0) throw new Error(err)
    return true
  })
  t.match(await harness.cli('vclgroups', 'delete', group, '--yes'), { code: 0 })
}

void t.test('deploying', async (t) => {
  const harness = await startHarness(t)
  const { cli, simulated, live, hung } = harness
  const plan = (verb: string, group: string, ...words: string[]) =>
    cli('vg', verb, group, '--plan', ...words)
  const isLoading = async (id: number) => (await harness.readGroup(id)).agentStates.length === 1

  await t.test('to all agents ends with 0 and prints no progress to a pipe', async (t) => {
    const id = await harness.makeGroup('all', simulated)

    t.match(await cli('vg', 'validate', 'all'), { code: 0, out: /^all: .*compiles/ })
    const ran = await cli('vg', 'deploy', 'all', '--wait', '60s', '--percent', '100')
    t.match(ran, { code: 0, err: '', out: 'all: Active, revision 1, 3 of 3 applied\n' })
    const again = await cli('vg', 'deploy', String(id), '--wait', '60', '--json')
    t.match(JSON.parse(again.out), { id, deployed: true, revision: 1, agentStates: { length: 3 } })

    for (const verb of ['state', 'placement', 'history']) {
      t.match(await cli('vg', verb, 'all'), { code: 0, out: /\S/ }, verb)
      t.match(await cli('vg', verb, 'all', '--csv'), { code: 0, out: /,/ }, verb)
      JSON.parse((await cli('vg', verb, 'all', '--json')).out)
    }
    t.match(await cli('vg', 'state', 'all'), { out: /stateName +Active/ })
    t.match(await cli('vg', 'history', 'all'), { out: /deploy +all\.vcl +1 +ok/ })
    t.match(await cli('vg', 'get', 'all'), {
      out: /agentStates:\n +AGENT +STATE .*\n +\S+ +applied/,
    })
    const refused = await cli('vg', 'delete', 'all', '--yes')
    t.match(refused, { code: exitCodes.refused, err: /undeploy it first \(trace/ })
  })

  await t.test('shows one live line on a terminal', async (t) => {
    await cli('files', 'update', 'all.vcl', '--source', `${main}# two\n`)
    const ran = await call(['vg', 'deploy', 'all'], { ...harness, terminal: true })
    t.equal(ran.code, 0)
    t.match(ran.err, /^\r\x1b\[Kdeploying/)
    t.match(ran.err, /\r\x1b\[K$/, 'the line is cleared at the end')
    t.notMatch(ran.err, /\n/)
    t.match(ran.out, /revision 2, 3 of 3 applied/)
  })

  await t.test('a rollback asks for confirmation, a reload does not', async (t) => {
    t.match(await cli('vg', 'rollback', 'all'), { code: exitCodes.usage, err: /--yes/ })
    t.match(await plan('rollback', 'all'), {
      code: exitCodes.changes,
      err: '',
      out: /^back to revision 1\n--- all\.vcl version 2\n\+{3} all\.vcl version 1\n[^]*\n-# two\n$/,
    })
    t.match(await cli('vg', 'rollback', 'all', '--yes'), { code: 0, out: /revision 3, 3 of 3/ })
    t.match(await plan('rollback', 'all', '--revision', '1'), { code: 0, out: /change nothing/ })
    const to = (revision: string) =>
      cli('vg', 'rollback', 'all', '--revision', revision, '--yes', '--wait', '60s')
    t.match(await to('2'), { code: 0, out: /revision 4, 3 of 3 applied/ })
    t.match(await plan('rollback', 'all', '--revision', '77'), {
      code: exitCodes.refused,
      out: /^it cannot be done now: revision 77 was not found$/m,
    })
    t.match(await to('77'), { code: exitCodes.refused, err: /77 was not found/ })
    t.match(await to('first'), { code: exitCodes.usage, err: /--revision/ })
    t.match(await cli('vg', 'reload', 'all'), { code: 0, out: /revision 5, 3 of 3 applied/ })
    t.match(await cli('vg', 'history', 'all'), { out: /reload .*\n.*rollback .*\n.*rollback / })
    t.match(await cli('vg', 'validate', 'all', '--agents', 'all'), { code: 0 })
    t.match(await cli('vg', 'validate', 'all', '--agents', 'few'), { code: exitCodes.usage })
    const leaving = await plan('undeploy', 'all')
    t.equal(leaving.code, exitCodes.changes)
    t.match(leaving.out, /^(- \S+-sim-\S+: the group is undeployed\n){3}$/)
    await cli('vg', 'undeploy', 'all', '--yes')
    t.match(await plan('undeploy', 'all'), { code: 0, out: 'it would change nothing\n' })
    await undeploy(t, harness, 'all')
    t.match(await cli('vg', 'rollback', 'all', '--yes'), { code: exitCodes.refused })
  })

  await t.test('a stage is promoted or dropped', async (t) => {
    await harness.makeGroup('staged', simulated.slice(0, 2))
    await harness.makeGroup('canary', simulated.slice(2))
    t.match(await cli('vg', 'deploy', 'staged'), { code: 0 })
    const [next, words] = ['next.vcl', ['--tags', 'canary', '--main-vcl', 'next.vcl']]
    t.match(await cli('vg', 'stage', 'staged'), { code: exitCodes.usage, err: /--tags/ })
    t.match(await cli('vg', 'stage', 'staged', '--tags', 'none'), { code: exitCodes.refused })
    t.match(await cli('files', 'add', '--name', next, '--source', `${main}# next\n`), { code: 0 })
    t.match(await cli('vg', 'stage', 'staged', ...words), {
      code: 0,
      out: /^staged: next\.vcl version \d is staged on canary\n$/,
    })
    t.match(await cli('vg', 'get', 'staged'), { out: /staged\.mainVCL/ })
    for (const verb of ['promote', 'delstage'])
      t.match(await cli('vg', verb, 'staged'), { code: exitCodes.usage, err: /--yes/ })
    t.match(await cli('vg', 'delstage', 'staged', '--yes'), { code: 0, out: /nothing is staged/ })
    t.match(await cli('vg', 'promote', 'staged', '--yes'), {
      code: exitCodes.refused,
      err: /not staged/,
    })
    t.match(await plan('promote', 'staged'), { code: exitCodes.refused, out: /not staged/ })
    t.match(await cli('vg', 'stage', 'staged', ...words), { code: 0 })
    const promote = await plan('promote', 'staged')
    t.match(promote, {
      code: exitCodes.changes,
      out: /^--- \/dev\/null\n\+{3} next\.vcl version 1$/m,
    })
    t.match(promote.out, /^--- staged\.vcl version 1\n\+{3} \/dev\/null$/m)
    t.match(await cli('vg', 'promote', 'staged', '--yes', '--wait', '60s'), {
      code: 0,
      out: /^staged: Active, revision 2, 2 of 2 applied/,
    })
    t.match(await cli('vg', 'history', 'staged'), { out: /promote .*\n.*stage .*\n.*delstage / })
    await undeploy(t, harness, 'staged')
  })

  await t.test('a group that cannot be assembled ends with 1 and file and line', async (t) => {
    await harness.makeGroup('bad', simulated, { source: broken })
    const planned = await plan('deploy', 'bad')
    t.match(planned, { code: exitCodes.refused, out: /^\+include "no-such-include\.vcl";$/m })
    t.match(planned.out, /^it cannot be done now: bad\.vcl line 3\b/m)
    for (const verb of ['deploy', 'validate']) {
      const ran = await cli('vg', verb, 'bad')
      t.match(ran, { code: exitCodes.refused, out: '' })
      t.match(ran.err, /bad\.vcl line 3\b.*no-such-include\.vcl/s)
    }
    t.match(await cli('vg', 'deploy', '987654'), { code: 1, err: /987654 was not found/ })
  })

  await t.test('tests that no agent can run are reported', (t) => checkUntested(t, harness))

  await t.test('with too few agents ends with 1', async (t) => {
    await harness.makeGroup('few', [live], { min: 1 })
    await cli('dep', 'update', 'few', '--max', '2', '--min', '2')
    const ran = await cli('vg', 'deploy', 'few', '--wait', '5s')
    t.match(ran, { code: exitCodes.refused, err: /agent/ })
    await undeploy(t, harness, 'few')
  })

  await t.test('with --detach ends with 0 at once, and the deploy continues', async (t) => {
    const id = await harness.makeGroup('later', simulated)
    t.match(await cli('vg', 'deploy', 'later', '--detach'), { code: 0, err: '' })
    await eventually('all agents have it', async () => {
      const { agentStates } = await harness.readGroup(id)
      return agentStates.length === 3 && agentStates.every(({ state }) => state === 'applied')
    })
    t.match(await cli('vg', 'deploy', 'later', '--wait', '0'), { code: 0, err: '' })
    await undeploy(t, harness, 'later')
  })

  await t.test('while an agent hangs', async (t) => {
    await harness.makeGroup('half', [live, hung], { min: 1 })
    await whileHung(harness, async () => {
      const part = await cli('vg', 'deploy', 'half', '--wait', '10s')
      t.match(part, { code: exitCodes.partial, out: /1 of 2 applied/ }, 'min reached, but not all')
      t.match(part.err, /^cachefleet: half: 1 of 2 applied, 100 percent wanted; .*hung \(\w+\)\n$/)
    })
    await undeploy(t, harness, 'half')

    await harness.makeGroup('share', [live, hung], { min: 1 })
    await whileHung(harness, async () => {
      // An agent that hangs in phase one is awaited for half of this time.
      const share = ['--wait', '10s', '--percent', '50']
      t.match(await cli('vg', 'deploy', 'share', ...share), { code: 0 }, 'the share is reached')
    })
    await undeploy(t, harness, 'share')

    await harness.makeGroup('none', [hung])
    await whileHung(harness, async () => {
      const none = await cli('vg', 'deploy', 'none', '--wait', '1s')
      t.match(none, { code: exitCodes.unfinished, err: /still loading after 1 s.*hung/ })
    })
    await undeploy(t, harness, 'none')
  })

  await t.test(
    'an endless deploy can be cancelled, and the waiting call reports by whom',
    async (t) => {
      const id = await harness.makeGroup('endless', [hung])
      t.match(await cli('vg', 'cancel', 'endless'), {
        code: exitCodes.refused,
        err: /no deploy of this group is loading/,
      })
      await whileHung(harness, async () => {
        const waiting = cli('vg', 'deploy', 'endless', '--wait', '60s')
        await eventually('it loads', () => isLoading(id))
        t.match(await cli('vg', 'cancel', 'endless'), {
          code: 0,
          out: 'endless: deploy cancelled, Inactive\n',
        })
        t.match(await waiting, { code: exitCodes.refused, err: /cancelled by root\b/ })
        t.match(await cli('vg', 'history', 'endless'), { out: /deploy .*cancelled by root/ })
        t.match(await harness.readGroup(id), { deployed: false, revision: 0, agentStates: [] })
        t.match(await cli('vg', 'cancel', 'endless'), { code: exitCodes.refused })
      })
      t.match(await cli('vg', 'delete', 'endless', '--yes'), { code: 0 })
    },
  )

  await t.test('Ctrl-C ends the CLI with 130, and the deploy stays pending', async (t) => {
    const id = await harness.makeGroup('stopped', [hung])
    await whileHung(harness, async () => {
      const child = startClient(['vg', 'deploy', 'stopped', '--wait', '60s'], harness.environment)
      await eventually('the deploy has begun', () => isLoading(id))
      let err = ''
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
      child.kill('SIGINT')
      t.equal(await endOf(child), exitCodes.interrupted)
      t.match(err, /^cachefleet: No longer waiting; the work continues: .* state stopped\n$/)
    })
    await eventually('it is deployed', async () => (await harness.readGroup(id)).deployed)
    await undeploy(t, harness, 'stopped')
  })

  await t.test('agents report what their caches hold', async (t) => {
    const name = simulated[0]?.name ?? ''
    const shown = {
      vcls: /cf-idle +active +auto/,
      params: /default_ttl +\d+/,
      backends: /^NAME/,
      bans: /^TIME/,
      panic: /no panic/,
    }
    for (const [question, text] of Object.entries(shown)) {
      t.match(await cli('agents', question, name), { code: 0, out: text }, question)
      const { code, out } = await cli('agents', question, name, '--json')
      t.strictSame([code, typeof JSON.parse(out)], [0, 'object'], question)
      t.match(await cli('agents', question, name, '--csv'), { code: 0 }, question)
    }
    t.match(await cli('agents', 'command', name, '--', 'ping'), { code: 0, out: /PONG/ })
    t.match(await cli('agents', 'command', name, '--', 'vcl.list', '-j'), { out: /cf-idle/ })
    t.match(await cli('agents', 'command', name, '--', 'stop'), { code: exitCodes.refused })
    t.match(await cli('agents', 'unlock', name), { code: 0, out: /stateName/ })

    const setParam = (...words: string[]) => cli('agents', 'set-param', name, ...words)
    t.match(await setParam('default_ttl', '30'), { code: 0, out: /30\.000/ })
    t.match(await setParam('default_ttl', 'soon'), { code: exitCodes.refused, err: /default_ttl/ })
    t.match(await setParam('cc_command', 'x'), { code: exitCodes.refused, err: /anyone/ })
    t.match(await setParam('default_ttl', '--reset'), { code: 0, out: /120\.000/ })
    for (const wrong of [['default_ttl'], ['default_ttl', '1', '--reset']])
      t.match(await setParam(...wrong), { code: exitCodes.usage, err: /--reset/ })
    const setBackend = (...words: string[]) => cli('agents', 'set-backend', name, ...words)
    t.match(await setBackend('default', 'sick'), { code: 0, out: /cf-idle\.default/ })
    t.match(await cli('agents', 'backends', name), { out: /cf-idle\.default +sick/ })
    t.match(await setBackend('default', 'auto'), { code: 0 })
    t.match(await setBackend('nosuch', 'sick'), { code: exitCodes.refused, err: /not found/ })
    t.match(await setBackend('default', 'dead'), { code: exitCodes.usage, err: /healthy, sick/ })

    t.match(await cli('agents', 'panic', 'nosuch'), {
      code: 1,
      err: /agent "nosuch" was not found/,
    })
  })
})
