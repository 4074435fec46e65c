/** `cachefleet problems`: open problems, the worst first, for people and for programs. */
import { pino } from 'pino'
import t from 'tap'
import { startProblemFollower } from '../../src/coordinator/problem-follower/problem-follower.js'
import { agentStates } from '../../src/resources/agent-state.js'
import { enrol } from '../coordinator/controller/client.js'
import { eventually } from '../support/eventually.js'
import { startFixture } from './fixture.js'

void t.test('problems are listed, the worst first', async (t) => {
  const fixture = await startFixture(t)
  const { service } = fixture.api
  const [drifts, down] = [await enrol(fixture.api, 'edge-1'), await enrol(fixture.api, 'edge-2')]
  const drift = { at: new Date(0).toISOString(), foreign: ['boot'], action: 'x', healedAt: null }
  const agents = service.store.queries.updateTable('agents')
  await agents
    .set({ drift: JSON.stringify(drift) })
    .where('id', '=', drifts)
    .execute()
  await agents.set({ state: agentStates.Down }).where('id', '=', down).execute()
  const follower = startProblemFollower(service, pino({ level: 'silent' }))
  t.teardown(() => follower.close())

  const { out } = await eventually('both are listed', async () => {
    const ran = await fixture.cli(['problems'])
    return /edge-1/.test(ran.out) && /edge-2/.test(ran.out) ? ran : undefined
  })

  t.match(
    out,
    /^TYPE +NAME +PROBLEM +SINCE +MESSAGE +REMEDY\nagent +edge-2 +agent-down .*\nagent +edge-1 +drift /,
  )
  t.match(await fixture.json('problems'), [
    { type: 'agent', id: down, name: 'edge-2', code: 'agent-down', severity: 3, objects: [] },
    { type: 'agent', id: drifts, name: 'edge-1', code: 'drift', severity: 2 },
  ])
  t.match((await fixture.cli(['agents', 'get', 'edge-2'])).out, /problems:\n.*agent-down/s)
})
