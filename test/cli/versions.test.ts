/** `version --all`: the versions in a fleet; and a coordinator older than its store. */
import { join } from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { openSqlite } from '../../src/coordinator/store/sqlite.js'
import { listVersions } from '../../src/cli/versions.js'
import { version } from '../../src/version.js'
import { parallel } from '../support/parallel.js'
import { runDaemon } from '../support/daemon.js'
import { startMixedFleet } from '../support/mixed-fleet.js'
import { call, makeHome } from './run-cli.js'

void t.test('the versions of a fleet are listed', parallel(), async (t) => {
  const { coordinator } = await startMixedFleet(t, { one: '6.0.4', two: '7.1.1', three: '7.1.1' })
  const { api, base, stateDir, port } = coordinator
  const environment = {
    ...(await makeHome(t)),
    CACHEFLEET_SERVER: base,
    CACHEFLEET_TOKEN: api.token,
  }
  t.match(await call(['version'], { environment }), { code: 0, out: `${version}\n` })
  // All agents here have one version: another one is written to the database as it would report it.
  const { queries, close } = openSqlite(join(stateDir, 'coordinator.db'))
  await queries
    .updateTable('agents')
    .set({ agentVersion: '0.3.0' })
    .where('name', '=', 'one')
    .execute()
  const older = await call(['version', '--all', '--csv'], { environment })
  t.same(older, {
    code: 0,
    err: '',
    out: [
      'part,version,count,skew',
      `client,${version},1,`,
      `coordinator,${version},1,`,
      'agents,0.1.0,2,older: upgrade it',
      'agents,0.3.0,1,newer: coordinators are upgraded first',
      'caches,varnish 6.0.4,1,',
      'caches,varnish 7.1.1,2,',
      '',
    ].join('\r\n'),
  })
  await queries
    .updateTable('agents')
    .set({ agentVersion: '0.9.0' })
    .where('name', '=', 'one')
    .execute()
  const two = `${base},${base}/`
  const ran = await call(['version', '--all', '--json', '--coordinators', two], { environment })
  t.equal(ran.code, 1, 'an incompatible version is a failure')
  t.match(JSON.parse(ran.out), [
    { part: 'client' },
    { part: 'coordinator', version, count: 3, skew: null },
    { part: 'agents', version: '0.1.0', count: 2 },
    { part: 'agents', version: '0.9.0', skew: /^does not work with this coordinator/ },
    { part: 'caches' },
    { part: 'caches' },
  ])

  await coordinator.daemon.stop()
  await sql`insert into migrations values ('0999-later', 1)`.execute(queries)
  await close()
  const words = ['--coordinator', '--no-agent', '--state-dir', stateDir]
  const start = await runDaemon([...words, '--listen', `127.0.0.1:${port}`])
  t.equal(start.code, 78, 'the program is older than its store')
  t.match(start.errors, /^cachefleetd: a newer version has written this store: it has 0999-later/)
})

void t.test('version skew is described, in either direction', (t) => {
  const agents = [{ agentVersion: '0.3.0', engineProduct: '', engineVersion: '' }]
  t.match(listVersions({ own: '0.4.0', others: ['0.5.0'], agents }), [
    { part: 'client' },
    { part: 'coordinator', version: '0.4.0', skew: null },
    { part: 'coordinator', version: '0.5.0', skew: 'newer: coordinators are upgraded first' },
    { part: 'agents', version: '0.3.0', skew: 'older: upgrade it' },
  ])
  t.end()
})
