/** `ban`, `purge` and `invalidations` in the CLI: targets, n of m, exit codes. The coordinator is a real process. */
import t, { type Test } from 'tap'
import type { ApiClient } from '../support/api-client.js'
import { makeStateDir, startCoordinator, startDaemon, type Daemon } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { call, makeHome, type Ran } from './run-cli.js'

interface Harness {
  readonly api: ApiClient
  /** Tests stop its process. */
  readonly hanging: Daemon
  readonly cli: (...words: string[]) => Promise<Ran>
  readonly cliOnTerminal: (...words: string[]) => Promise<Ran>
  /** At a terminal with this input. */
  readonly cliAsked: (input: string, ...words: string[]) => Promise<Ran>
}

/** Two simulated agents and `hung`; slow heartbeats, so that a stopped agent is not Down during these tests. */
async function startHarness(t: Test): Promise<Harness> {
  const coordinator = await startCoordinator(t, {
    words: ['--no-agent', '--simulate', '2', '--heartbeat', '60'],
  })
  const { api, base } = coordinator
  const environment = {
    ...(await makeHome(t)),
    CACHEFLEET_SERVER: base,
    CACHEFLEET_TOKEN: api.token,
  }
  const hanging = startDaemon(
    t,
    [
      ...['--engine', 'simulate', '--name', 'hung', '--state-dir', await makeStateDir(t)],
      ...['--coordinator-url', base.replace(/^http/, 'ws')],
    ],
    { CACHEFLEET_JOIN_TOKEN: await api.makeJoinToken() },
  )
  await eventually('three agents run', async () => {
    const agents = await api.listAgents()
    return agents.filter(({ stateName }) => stateName === 'Running').length === 3
  })
  return {
    api,
    hanging,
    cli: (...words) => call(words, { environment }),
    cliOnTerminal: (...words) => call(words, { environment, terminal: true }),
    cliAsked: (input, ...words) => call(words, { environment, terminal: true, input }),
  }
}

void t.test('bans and purges in the CLI', async (t) => {
  const { cli, cliOnTerminal, cliAsked, hanging } = await startHarness(t)

  await t.test('a ban done by all agents ends with 0', async (t) => {
    const ran = await cli('ban', 'obj.http.x-url ~ ^/img/', '--all')
    t.match(ran, { code: 0, out: /^ban 1: Completed, 3 of 3 done\n$/, err: '' })
    const named = await cli('--json', 'ban', 'obj.age > 1h', '--agents', 'hung', '--ttl', '60')
    t.match(JSON.parse(named.out), { stateName: 'Completed', total: 1, ttl: 60 })
    const several = await cli('ban', 'req.url ~ a', 'req.url ~ b', '--tags', 'simulated')
    t.match(several, { code: 0, out: /2 of 2 done/, err: /lurker/ })
    t.match(await cliOnTerminal('ban', 'obj.age > 1h', '--all'), { code: 0, err: /3 done/ })
  })

  await t.test('on a terminal a ban of everything asks for confirmation', async (t) => {
    const words = ['ban', 'obj.status != 0', '--all'] as const
    const before = (await cli('invalidations', 'list', '--csv')).out
    const no = await cliAsked('n\n', ...words)
    t.match(no, {
      code: 1,
      err: /Ban every object on 3 agents\? \(y\/N\) .*Nothing was done/s,
    })
    t.equal((await cli('invalidations', 'list', '--csv')).out, before)
    t.match(await cliAsked('y\n', ...words), { code: 0, out: /3 of 3 done/ })
    t.match(await cliOnTerminal(...words, '--yes'), { code: 0, out: /3 of 3 done/ })
    t.match(await cli(...words), { code: 0, err: /matches every object/ }, 'a script is not asked')
  })

  await t.test('a plan lists the agents it would reach, and sends nothing', async (t) => {
    const before = (await cli('invalidations', 'list', '--csv')).out
    const ran = await cli('ban', 'req.url ~ a', '--tags', 'simulated', '--plan')
    const out = 'would reach 2 of 2 agents, 0 of them when they reconnect\n'
    t.match(ran, { code: 0, out, err: /lurker/ })
    t.match(await cli('ban', 'req.url', '--all', '--plan'), { code: 1, err: /position 8/ })
    t.equal((await cli('invalidations', 'list', '--csv')).out, before)
  })

  await t.test('a refusal ends with 1, invalid usage with 2', async (t) => {
    t.match(await cli('ban', 'req.url', '--all'), { code: 1, err: /position 8/ })
    t.match(await cli('ban', 'req.url ~ (', '--all'), {
      code: 1,
      out: /Failed, 0 of 3/,
      err: /Not done everywhere.*hung/,
    })
    t.match(await cli('ban', 'req.url ~ a'), { code: 2, err: /--vcl-group/ })
    t.match(await cli('ban', 'req.url ~ a', '--all', '--agents', 'hung'), { code: 2 })
    t.match(await cli('purge', '/a', '--all'), { code: 1, err: /not absolute/ })
    t.match(await cli('purge', 'http://a.example/', '--all', '--header', 'x'), { code: 2 })
    const purged = await cli('purge', 'http://a.example/', '--all', '--header', 'Soft: 1')
    t.match(purged, { code: 0, out: /Completed, 3 of 3/ }, 'no group has the host')
  })

  await t.test('the call waits for a silent agent, as long as requested', async (t) => {
    hanging.signal('SIGSTOP')
    const ran = await cli('ban', 'obj.age > 2h', '--all', '--wait', '1s')
    t.match(ran, { code: 4, out: /2 of 3 done/, err: /this continues: hung \(pending/ })
    t.match(await cli('ban', 'obj.age > 3h', '--all', '--detach'), { code: 0, err: '' })
    const [last, before] = (await cli('--csv', 'invalidations', 'list', '--sort', 'id:desc')).out
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[0] ?? '')
    t.match(await cli('inv', 'cancel', last ?? ''), { code: 0, out: /Cancelled/ })
    t.match(await cli('inv', 'retry', last ?? ''), { code: 0, out: /Running/ })
    t.match(await cli('inv', 'delete', before ?? '', '--yes'), { code: 1, err: /cancel it first/ })
    hanging.signal('SIGCONT')
    for (const id of [last ?? '', before ?? ''])
      await eventually('it is done', async () =>
        /Completed/.test((await cli('invalidations', 'get', id)).out),
      )
    t.match(await cli('inv', 'delete', before ?? '', '--yes'), { code: 0 })
    t.match(await cli('inv', 'retry', last ?? ''), { code: 1, err: /Completed/ })
  })
})
