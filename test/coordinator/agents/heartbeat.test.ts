/** Heartbeats and reports are stored, and silent agents become Down, on both databases. */
import t, { type Test } from 'tap'
import { createContext } from '../../../src/context.js'
import { recognizeJoinToken } from '../../../src/coordinator/registration/agent-credentials.js'
import { registerAgent } from '../../../src/coordinator/registration/registration.js'
import { startPostgres } from '../../support/postgres.js'
import { describe as describeAgent } from '../gateway/link-agent.js'
import { makeToken, startService, type TestService } from '../gateway/service.js'
import { enrolmentContract } from './enrolment.contract.js'
import { heartbeatMs } from './hints.js'
import { heartbeatsContract } from './heartbeats.contract.js'
import { liarContract } from './liar.contract.js'
import { reportsContract } from './reports.contract.js'
import { silenceContract } from './silence.contract.js'

const postgres = await startPostgres(t)
await suite('SQLite', (t) => startService(t, { heartbeatMs }))
await suite('PostgreSQL', async (t) =>
  startService(t, { heartbeatMs, url: await postgres.storeUrl() }),
)

async function suite(name: string, start: (t: Test) => Promise<TestService>): Promise<void> {
  await t.test(name, async (t) => {
    await t.test('heartbeats', (t) => heartbeatsContract(t, start))
    await t.test('silence', (t) => silenceContract(t, start))
    await t.test('reports', (t) => reportsContract(t, start))
    await t.test('unstorable text', (t) => liarContract(t, start))
    await t.test('enrolment', (t) => enrolmentContract(t, start))
    await t.test('concurrent enrolments of one name create one agent', async (t) => {
      const service = await start(t)
      const token = await makeToken(service)
      const context = createContext(service.log)
      const join = async (key: string) => {
        const joining = await recognizeJoinToken(service, token, 'same')
        return () => registerAgent(service, context, joining, describeAgent('same', key))
      }
      const joins = await Promise.all(['key-one', 'key-two', 'key-three'].map(join))

      const results = await Promise.allSettled(joins.map((register) => register()))

      t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
      for (const result of results)
        if (result.status === 'rejected') t.match(result.reason, { kind: 'conflict' })
      const token_ = await service.store.queries.selectFrom('joinTokens').select('uses').execute()
      t.same(token_, [{ uses: 1 }], 'refused enrolments do not use up a token')
    })
  })
}
