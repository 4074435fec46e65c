/** Concurrent enrolments share one transaction; a refusal affects only its own agent. */
import type { Test } from 'tap'
import { createContext } from '../../../src/context.js'
import { recognizeJoinToken } from '../../../src/coordinator/registration/agent-credentials.js'
import { createRegistrar } from '../../../src/coordinator/registration/registrar.js'
import type { Store } from '../../../src/coordinator/store/store.js'
import { FleetError } from '../../../src/errors.js'
import { readTagsOfAgents } from '../../../src/coordinator/fleet/agent-tags.js'
import { describe } from '../gateway/link-agent.js'
import { administrator, administratorOf, makeToken, type TestService } from '../gateway/service.js'
import { addOrganization, addTag } from '../store/rows.js'

interface Wanted {
  readonly name: string
  readonly token: string
  readonly tags?: readonly string[]
  readonly key?: string
}

function openDoor(service: TestService) {
  const registrar = createRegistrar(service)
  const context = createContext(service.log)
  return {
    /** Checks every join token before any agent registers, as for agents that connect at the same time. */
    joinAll: async (wanted: readonly Wanted[]) => {
      const credentials = await Promise.all(
        wanted.map(({ token, name }) => recognizeJoinToken(service, token, name)),
      )
      return Promise.allSettled(
        wanted.map(async ({ name, key = `key-of-${name}`, tags = [] }, at) => {
          const credential = credentials[at]
          if (!credential) throw new Error('it was not let in')
          return registrar.register(context, credential, describe(name, key, { tags }))
        }),
      )
    },
    readUses: async () => {
      const rows = await service.store.queries
        .selectFrom('joinTokens')
        .select('uses')
        .orderBy('id')
        .execute()
      return rows.map(({ uses }) => uses)
    },
  }
}

export async function enrolmentContract(
  t: Test,
  start: (t: Test) => Promise<TestService>,
): Promise<void> {
  await t.test('concurrent agents each get the owner and tags of their own token', async (t) => {
    const service = await start(t)
    const { queries } = service.store
    const owner = await addOrganization(queries, 'owner')
    const tagId = await addTag(queries, 'given', owner)
    const shared = await makeToken(service)
    const owned = await makeToken(service, { tags: [{ id: tagId }] }, administratorOf(owner))
    const { joinAll, readUses } = openDoor(service)

    const joined = await joinAll([
      ...Array.from({ length: 40 }, (_, n) => ({ name: `a${n}`, token: shared, tags: ['edge'] })),
      ...Array.from({ length: 20 }, (_, n) => ({
        name: `b${n}`,
        token: owned,
        tags: n % 2 === 0 ? ['given', 'own'] : [],
      })),
    ])

    const agents = joined.map((one) => (one.status === 'fulfilled' ? one.value : null))
    t.same(
      agents.map((agent) => agent?.name),
      [
        ...Array.from({ length: 40 }, (_, n) => `a${n}`),
        ...Array.from({ length: 20 }, (_, n) => `b${n}`),
      ],
    )
    t.same(await readUses(), [40, 20])
    const tags = await readTagsOfAgents(
      queries,
      agents.map((agent) => agent?.agentId ?? 0),
    )
    for (const agent of agents) {
      if (!agent) continue
      const isShared = agent.name.startsWith('a')
      t.equal(agent.organizationId, isShared ? null : owner)
      const borne = tags
        .get(agent.agentId)
        ?.map(({ name, ...why }) => [name, why.static, why.assigned])
      const isEven = Number(agent.name.slice(1)) % 2 === 0
      const ownTags = isEven
        ? [
            ['given', true, true],
            ['own', true, false],
          ]
        : [['given', false, true]]
      t.same(borne, isShared ? [['edge', true, false]] : ownTags, agent.name)
    }
  })

  await t.test('a refused enrolment does not affect the others', async (t) => {
    const service = await start(t)
    const many = await makeToken(service)
    const few = await makeToken(service, { maxUses: 2 })
    const { joinAll, readUses } = openDoor(service)

    const joined = await joinAll([
      ...['one', 'two', 'three'].map((name) => ({ name, token: few })),
      ...['four', 'five', 'six'].map((name) => ({ name, token: many })),
      { name: 'four', token: many, key: 'another' },
      { name: 'seven', token: many, key: 'key-of-six' },
    ])

    const told = joined.map((one) =>
      one.status === 'fulfilled' ? 'in' : (one.reason as { kind?: string }).kind,
    )
    t.same(
      told.filter((one) => one === 'unauthenticated'),
      ['unauthenticated'],
      'a token with two uses refuses the third agent',
    )
    t.equal(told.filter((one) => one === 'conflict').length, 2, 'a taken name, and a taken key')
    t.equal(told.filter((one) => one === 'in').length, 5)
    t.same(await readUses(), [3, 2], 'refused enrolments do not use up a token')
  })

  await t.test('concurrent enrolments share one failed transaction', async (t) => {
    const service = await start(t)
    const token = await makeToken(service)
    let asked = 0
    const transaction = (): Promise<never> => {
      asked += 1
      return Promise.reject(new FleetError('unavailable', 'store', 'the store does not answer'))
    }
    const prototype = service.store as unknown as object // Object.create is not typed
    const store = Object.assign(Object.create(prototype) as Store, { transaction })
    const { joinAll } = openDoor({ ...service, store })

    const joined = await joinAll(['one', 'two', 'three'].map((name) => ({ name, token })))

    t.same(
      joined.map((one) => one.status === 'rejected' && (one.reason as { kind?: string }).kind),
      ['unavailable', 'unavailable', 'unavailable'],
    )
    t.equal(asked, 1)
  })

  await t.test('an organization enrols agents up to its quota', async (t) => {
    const service = await start(t)
    const { queries } = service.store
    const owner = await addOrganization(queries, 'owner')
    await queries
      .updateTable('organizations')
      .set({ quotas: JSON.stringify({ agents: 3 }) })
      .where('id', '=', owner)
      .execute()
    const token = await makeToken(service, {}, administratorOf(owner))
    const shared = await makeToken(service, {}, administrator)
    const { joinAll } = openDoor(service)

    const joined = await joinAll([
      ...['one', 'two', 'three', 'four', 'five'].map((name) => ({ name, token })),
      { name: 'other', token: shared },
    ])

    t.same(
      joined.map(({ status }) => status).toSorted(),
      [...Array<string>(4).fill('fulfilled'), 'rejected', 'rejected'],
      'three agents within the quota and the one without an organization',
    )
  })
}
