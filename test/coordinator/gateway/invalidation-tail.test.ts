/** The kept tail of the invalidation log: entries that ended without an agent are neither sent nor counted. */
import fc from 'fast-check'
import t from 'tap'
import { createContext } from '../../../src/context.js'
import { createInvalidationTail } from '../../../src/coordinator/gateway/invalidation-tail.js'
import { markSilentAgentsDown } from '../../../src/coordinator/reports/heartbeat.js'
import {
  cancelInvalidation,
  deleteInvalidation,
} from '../../../src/coordinator/invalidations/change-invalidation.js'
import { createInvalidation } from '../../../src/coordinator/invalidations/create-invalidation.js'
import { endOverdueInvalidations } from '../../../src/coordinator/invalidations/invalidation-expiry.js'
import { openInvalidationLog } from '../../../src/coordinator/invalidations/invalidation-log.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { findAgent } from '../../../src/coordinator/fleet/agent-queries.js'
import type { InvalidationRecord } from '../../../src/coordinator/invalidations/invalidation-queries.js'
import { addAgent } from '../store/rows.js'
import { eventually } from '../../support/eventually.js'
import { describe, link, startGateway } from './link-agent.js'
import { administrator, makeToken, startService, type TestService } from './service.js'

const windowEntries = 64

async function ban(
  service: TestService,
  values: readonly string[],
  changes: { readonly ttl?: number } = {},
): Promise<InvalidationRecord> {
  const { entry } = await createInvalidation(service, createContext(service.log), administrator, {
    type: 'ban',
    target: { all: true },
    ...changes,
    expressions: values.map((value) => `obj.http.x ~ ${value}`),
  })
  return entry
}

void t.test('cancelled entries make room for new entries', async (t) => {
  const service = await startService(t)
  const capabilities = JSON.stringify(['report', 'command', 'invalidate'])
  await addAgent(service.store.queries, 'edge', { capabilities })
  const entries = openInvalidationLog(service)
  const tail = createInvalidationTail(service, service.log, { entries, grown: () => undefined })
  t.teardown(() => tail.close())
  await eventually('the log was read', () => tail.end === 0)
  // 68 entries of a quarter of a megabyte: more than a tail keeps before it drops the oldest.
  const value = 'x'.repeat(4000)
  const long = Array.from({ length: 64 }, (_, at) => `${value}${at}`)
  for (let n = 1; n <= 68; n++) {
    const entry = await ban(service, long)
    await eventually('the entry was read', () => tail.end === entry.position)
    await cancelInvalidation(service, administrator, entry)
  }

  const last = await ban(service, ['y'])

  await eventually('the entry is kept', () => tail.next(0)?.id === last.id)
  t.equal(tail.start, 0, 'no entry was dropped for it')
})

void t.test('an entry cancelled while an agent catches up is not sent to it', async (t) => {
  const service = await startService(t)
  const before = await startGateway(t, service)
  const description = describe('edge', 'key', {
    capabilities: ['report', 'deploy', 'command', 'invalidate'],
  })
  const token = await makeToken(service)
  const enrolled = await link(before.host, description, { token, key: 'key' })
  enrolled.socket.close()
  await enrolled.untilClosed()
  const made: InvalidationRecord[] = []
  for (let n = 0; n < windowEntries + 10; n++) made.push(await ban(service, [`v${n}`]))

  // Its tail begins after all of them: it reads the entries that this agent has missed.
  const after = await startGateway(t, service)
  const agent = await eventually('it is back', () => link(after.host, description, { key: 'key' }))
  const sent = () => agent.received.flatMap((one) => (one.kind === 'invalidate' ? one.entries : []))
  await eventually('a window is sent', () => sent().length === windowEntries)
  const cancelled = made[windowEntries + 3]
  if (cancelled) await cancelInvalidation(service, administrator, cancelled)
  agent.say({
    kind: 'invalidated',
    results: sent().map(({ position }) => ({ position, result: 'done', error: null })),
    trouble: null,
  })

  await eventually('the rest is sent', () => sent().at(-1)?.position === made.at(-1)?.position)
  t.same(
    sent().map(({ position }) => position),
    made.filter((entry) => entry !== cancelled).map(({ position }) => position),
  )
})

const fate = fc.constantFrom('open', 'cancelled', 'expired', 'deleted')
const absence = fc.record({
  /** The fates of the entries logged while the agent is disconnected. */
  fates: fc.array(fate, { minLength: 1, maxLength: 6 }),
  /** A new coordinator reads the log from its end, and the missed entries separately. */
  isNewCoordinator: fc.boolean(),
})

void t.test(
  'an agent catches up with all open entries, whatever ended while it was disconnected',
  async (t) => {
    const service = await startService(t, { heartbeatMs: 1000 })
    const first = await startGateway(t, service)
    const description = describe('edge', 'key', {
      capabilities: ['report', 'deploy', 'command', 'invalidate'],
    })
    const token = await makeToken(service)
    let agent = await link(first.host, description, { token, key: 'key' })
    await fc.assert(
      fc.asyncProperty(absence, async ({ fates, isNewCoordinator }) => {
        agent.socket.close()
        await agent.untilClosed()
        service.moveClock(10_000)
        await markSilentAgentsDown(service)
        const open: number[] = []
        for (const one of fates) {
          const entry = await ban(service, ['x'], one === 'expired' ? { ttl: 1 } : {})
          if (one === 'open') open.push(entry.position)
          if (one === 'cancelled' || one === 'deleted')
            await cancelInvalidation(service, administrator, entry)
          if (one === 'deleted') await deleteInvalidation(service, entry)
        }
        service.moveClock(2000)
        await endOverdueInvalidations(service)

        const { host } = isNewCoordinator ? await startGateway(t, service) : first
        agent = await eventually('the agent is back', () => link(host, description, { key: 'key' }))
        const sent = () =>
          agent.received.flatMap((one) => (one.kind === 'invalidate' ? one.entries : []))
        await eventually('the open entries are sent', () => sent().length >= open.length)
        if (open.length > 0)
          agent.say({
            kind: 'invalidated',
            results: sent().map(({ position }) => ({ position, result: 'done', error: null })),
            trouble: null,
          })

        await eventually('the agent is Running', async () => {
          const row = await findAgent(service.store.queries, { kind: 'all' }, agent.agentId)
          return row?.state === agentStates.Running
        })
        t.same(
          sent().map(({ position }) => position),
          open,
        )
      }),
      {
        numRuns: 12,
        examples: [
          [{ fates: ['open', 'cancelled'], isNewCoordinator: false }],
          [{ fates: ['open', 'expired', 'open', 'deleted'], isNewCoordinator: true }],
        ],
      },
    )
  },
)
