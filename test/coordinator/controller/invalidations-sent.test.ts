/** `/invalidations` as sent to agents: the targets of entries of organizations, and the number sent at a time. */
import t, { type Test } from 'tap'
import {
  createInvalidation,
  previewInvalidation,
} from '../../../src/coordinator/invalidations/create-invalidation.js'
import { createContext } from '../../../src/context.js'
import { purgeSecret } from '../../../src/vcl/prologue.js'
import type { Invalidate } from '../../../src/messages/coordinator-to-agent.js'
import { addOrganization, addPlacement } from '../store/rows.js'
import { eventually } from '../../support/eventually.js'
import { describe, link, startGateway, type LinkAgent } from '../gateway/link-agent.js'
import { administratorOf, makeToken, startService, type TestService } from '../gateway/service.js'
import type { Json } from './client.js'

const able = ['report', 'deploy', 'command', 'invalidate'] as const

interface Shared {
  readonly service: TestService
  readonly agent: LinkAgent & { readonly agentId: number }
  readonly red: number
  readonly blue: number
}

/** A shared agent with a red and a blue group, `red.example` and `*.example`. */
async function startShared(t: Test): Promise<Shared> {
  const service = await startService(t)
  const { host } = await startGateway(t, service)
  const { queries } = service.store
  const token = await makeToken(service)
  const agent = await link(host, describe('edge', 'key', { capabilities: [...able] }), {
    token,
    key: 'key',
  })
  const [red, blue] = [
    await addOrganization(queries, 'red'),
    await addOrganization(queries, 'blue'),
  ]
  await placeGroup(service, {
    id: 1,
    organizationId: red,
    agentId: agent.agentId,
    fqdn: 'red.example',
  })
  await placeGroup(service, {
    id: 2,
    organizationId: blue,
    agentId: agent.agentId,
    fqdn: '*.example',
  })
  return { service, agent, red, blue }
}

async function placeGroup(
  { store: { queries } }: TestService,
  of: { id: number; organizationId: number; agentId: number; fqdn: string },
): Promise<void> {
  const { id, organizationId, agentId, fqdn } = of
  const at = { createdAt: 1, updatedAt: 1 }
  await queries
    .insertInto('files')
    .values({
      id,
      organizationId,
      name: 'a',
      contentType: 'text/plain',
      encoded: 0,
      fileType: 1,
      version: 1,
      sha: 'a',
      ...at,
    })
    .execute()
  await queries
    .insertInto('vclGroups')
    .values({
      id,
      organizationId,
      name: 'g',
      root: 0,
      keepOnFailure: 1,
      mainFileId: id,
      mainFileVersion: null,
      deployed: 1,
      revision: 1,
      wish: null,
      wishPending: 0,
      cacheKey: String(id).repeat(32),
      ...at,
    })
    .execute()
  await queries
    .insertInto('deployments')
    .values({ id, organizationId, name: 'd', min: 1, max: 1, ...at })
    .execute()
  await addPlacement(queries, id, agentId, id)
  await queries
    .updateTable('placements')
    .set({ organizationId })
    .where('groupId', '=', id)
    .execute()
  await queries
    .insertInto('placementDomains')
    .values({ agentId, fqdn, groupId: id, stage: 0 })
    .execute()
}

function acknowledge(agent: LinkAgent, { entries }: Pick<Invalidate, 'entries'>): void {
  const results = entries.map(({ position }) => ({
    position,
    result: 'done' as const,
    error: null,
  }))
  agent.say({ kind: 'invalidated', results, trouble: null })
}

void t.test('an organization can invalidate only objects of its own groups', async (t) => {
  const { service, agent, red, blue } = await startShared(t)
  const send = (organizationId: number, body: Json) =>
    createInvalidation(service, createContext(service.log), administratorOf(organizationId), {
      ...(body as { type: 'ban' }),
      target: { all: true },
    })
  const expression = 'obj.http.x ~ a'

  await send(red, { type: 'ban', expression })
  const ban = await agent.next('invalidate')
  t.match(ban.entries, [{ ban: { groups: [1], expressions: [[['obj.http.x', '~', 'a']]] } }])
  acknowledge(agent, ban)

  const urls = ['http://RED.example/a?b', 'http://www.example/']
  await send(blue, { type: 'purge', urls, headers: { 'x-soft': '1' } })
  const purge = await agent.next('invalidate')
  t.match(purge, { after: ban.entries[0]?.position, isRestart: false })
  t.same(purge.entries[0]?.purge, {
    method: 'PURGE',
    headers: { 'x-soft': '1' },
    requests: [{ host: 'www.example', path: '/', secret: purgeSecret('2'.repeat(32)) }],
  })
  acknowledge(agent, purge)

  const administrator = administratorOf(red)
  const target = { all: true } as const
  t.match(
    await previewInvalidation(service, administrator, { type: 'purge', urls, target }),
    { total: 1, reached: 1 },
    'the agent holds one of the domains',
  )
  t.match(
    await previewInvalidation(service, administrator, {
      type: 'purge',
      urls: [urls[1] ?? ''],
      target,
    }),
    { total: 1, reached: 0 },
    'red has no objects there',
  )
  const others = await send(red, { type: 'purge', urls: ['http://www.example/'] })
  t.match(others.summary, { state: 2, done: 1, total: 1 }, 'red has no objects there: it is done')
  await t.rejects(
    createInvalidation(service, createContext(service.log), administratorOf(red), {
      type: 'ban',
      expression,
      target: { vclGroup: { id: 2 } },
    }),
    { kind: 'invalid', message: /target\.vclGroup: 2/ },
  )
})

void t.test(
  'an agent gets more entries only after its results are recorded; a fault restarts it',
  async (t) => {
    const { service, agent, red } = await startShared(t)
    const context = createContext(service.log)
    const log = () =>
      createInvalidation(service, context, administratorOf(red), {
        type: 'ban',
        expression: 'obj.http.x ~ a',
        target: { all: true },
      })
    for (let n = 0; n < 100; n++) await log()
    const sent = () =>
      agent.received.flatMap((one) => (one.kind === 'invalidate' ? one.entries : []))
    await eventually('a window is sent', () => sent().length === 64)
    const positions = sent().map(({ position }) => position)

    const done = positions.slice(0, 10)
    agent.say({
      kind: 'invalidated',
      results: done.map((position) => ({ position, result: 'done', error: null })),
      trouble: 'the cache is gone',
    })
    await eventually('the delivery restarts', () =>
      agent.received.some(
        (one) => one.kind === 'invalidate' && one.isRestart && one.after === done.at(-1),
      ),
    )
    await eventually('a window is sent again', () => sent().length === 128)
    t.same(
      sent()
        .slice(64)
        .map(({ position }) => position),
      Array.from({ length: 64 }, (_, index) => index + 11),
    )
    agent.say({
      kind: 'invalidated',
      results: [{ position: 100, result: 'done', error: null }],
      trouble: null,
    })
    acknowledge(agent, { entries: sent().slice(64) })
    await eventually('the rest is sent', () => sent().length === 128 + 26)
    t.equal(sent().at(-1)?.position, 100, 'results of entries not in flight are ignored')
  },
)
