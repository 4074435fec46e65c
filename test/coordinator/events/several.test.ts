/** Events on PostgreSQL: the contract of every store, two coordinators over NATS, and operation without hints. */
import t, { type Test } from 'tap'
import { pino } from 'pino'
import { openBus } from '../../../src/coordinator/bus/open-bus.js'
import { openStore } from '../../../src/coordinator/store/open-store.js'
import { eventually } from '../../support/eventually.js'
import { heard, listen } from '../../support/event-client.js'
import { startNats } from '../../support/nats.js'
import { startPostgres } from '../../support/postgres.js'
import { enrol } from '../controller/client.js'
import { startTenants, type Tenants } from '../identity/people.js'
import { editEventsContract } from './edits.contract.js'
import { addLog, eventsContract } from './events.contract.js'
import { invalidationEventsContract } from './invalidations.contract.js'

const log = pino({ level: 'silent' })
const postgres = await startPostgres(t)

void t.test('PostgreSQL meets the contract of every store', (t) => {
  eventsContract(t, () => postgres.storeUrl())
  editEventsContract(t, () => postgres.storeUrl())
  invalidationEventsContract(t, () => postgres.storeUrl())
  t.end()
})

async function startTwo(
  t: Test,
  natsUrl: string | null,
): Promise<{ one: Tenants; two: Tenants; storeUrl: string }> {
  const storeUrl = await postgres.storeUrl()
  const stateDir = t.testdir()
  const startOne = async (): Promise<Tenants> => {
    const bus = natsUrl === null ? undefined : await openBus(natsUrl, 'events', log)
    const tenants = await startTenants(t, {
      storeUrl,
      stateDir,
      withEvents: true,
      ...(bus === undefined ? {} : { bus }),
    })
    t.teardown(() => bus?.close())
    return tenants
  }
  return { one: await startOne(), two: await startOne(), storeUrl }
}

void t.test('two coordinators send the same events, and one resumes for the other', async (t) => {
  const nats = await startNats(t)
  const { one, two } = await startTwo(t, nats.url)
  const [first, second] = [one, two].map(({ controller }) => controller.base)
  const { token } = one.system
  const [a, b] = [
    await listen(t, first ?? '', { token, lastEventId: 0 }),
    await listen(t, second ?? '', { token, lastEventId: 0 }),
  ]

  await Promise.all(
    Array.from({ length: 30 }, async (_, at) => {
      await addLog((at % 2 === 0 ? one : two).controller, at)
      if (at % 5 === 0) await enrol((at % 2 === 0 ? two : one).controller, `edge-${at}`)
    }),
  )

  for (const client of [a, b]) {
    for (let at = 0; at < 30; at++) await heard(client, 'apilog', { msg: `call ${at}` })
    for (let at = 0; at < 30; at += 5) await heard(client, 'agent', { name: `edge-${at}` })
  }
  const until = Math.min(a.lastId, b.lastId)
  const upTo = (client: typeof a) => client.events.filter(({ id }) => id <= until)
  t.strictSame(upTo(a), upTo(b))
  t.strictSame(
    upTo(a).map(({ id }) => id),
    Array.from({ length: upTo(a).length }, (_, at) => at + 1),
  )
  a.close()
  const middle = upTo(a)[10]?.id ?? 0
  const resumed = await listen(t, second ?? '', { token, lastEventId: middle })
  await eventually('the rest has arrived', () => resumed.lastId >= until)
  t.strictSame(
    upTo(resumed),
    upTo(b).filter(({ id }) => id > middle),
  )
})

void t.test('changes, revocations and lost rights arrive without hints as well', async (t) => {
  const { one, two } = await startTwo(t, null)
  const organizationId = await one.makeOrganization('acme')
  const ann = await one.addPerson('ann', 'acme')
  const client = await listen(t, two.controller.base, ann)

  await enrol(one.controller, 'edge-1', { organizationId })
  await heard(client, 'agent', { name: 'edge-1' })
  await ann.call(204, 'POST', '/auth/logout')

  await eventually('the stream ends', () => client.closed)
})

void t.test('a late commit is sent late, and no listener misses it', async (t) => {
  const { one, storeUrl } = await startTwo(t, null)
  const { controller, system } = one
  const client = await listen(t, controller.base, { ...system, lastEventId: 0 })
  const other = await openStore(storeUrl, log)
  t.teardown(() => other.close())
  let commit = (): void => undefined
  const mayCommit = new Promise<void>((resolve) => (commit = resolve))
  let written = false
  const late = other.transaction(async (queries) => {
    await addLogIn(queries, 'begun first')
    written = true
    await mayCommit
  })
  await eventually('the late entry is written', () => written)

  await addLog(controller, 2)
  const early = await heard(client, 'apilog', { msg: 'call 2' })
  const { lastId } = client
  commit()
  await late

  const told = await heard(client, 'apilog', { msg: 'begun first' })
  t.ok(told.id > early.id)
  const resumed = await listen(t, controller.base, { ...system, lastEventId: lastId })
  await heard(resumed, 'apilog', { msg: 'begun first' })
})

async function addLogIn(
  queries: Tenants['controller']['service']['store']['queries'],
  msg: string,
) {
  await queries
    .insertInto('apiLogs')
    .values({
      organizationId: null,
      createdAt: Date.now(),
      severity: 1,
      msg,
      keyType: 'tag',
      keyId: null,
      traceId: 'trace-of-a-test',
      account: 'root',
      method: 'POST',
      path: '/api/v1/tags',
      status: 201,
    })
    .execute()
}
