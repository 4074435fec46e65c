/** What several coordinator processes agree on through a store: leases of tasks, owners of deploys, links of agents. */
import type { Test } from 'tap'
import { createLeases, leaseMs, requireLease } from '../../../src/coordinator/store/leases.js'
import { claimLink, readLinks, releaseLink } from '../../../src/coordinator/reports/link-queries.js'
import {
  deleteDeploy,
  holdsDeploy,
  readDeploys,
  renewDeploy,
  takeExpiredDeploys,
} from '../../../src/coordinator/fleet/deploy-queries.js'
import { takeLease, type Lease } from '../../../src/coordinator/store/lease-queries.js'
import type { Store } from '../../../src/coordinator/store/store.js'
import { addAgent, addDeploy, addFile, addGroup } from './rows.js'
import type { StoreFactory } from './store.contract.js'

export function leasesContract(t: Test, factory: StoreFactory): void {
  void t.test(
    'a task is run by one process at a time, by the same one as long as it renews',
    async (t) => {
      const { one, two, clock } = await startTwo(t, factory)

      t.equal(await one.run('placement', epochOf), 1)
      t.equal(await two.run('placement', epochOf), undefined)
      t.equal(await two.run('cleanup', epochOf), 1, 'another task')
      for (let at = 0; at < 5; at++) {
        clock.now += leaseMs / 2
        t.equal(await one.run('placement', epochOf), 1)
        t.equal(await two.run('placement', epochOf), undefined)
      }
      clock.now += leaseMs + 1
      t.equal(await two.run('placement', epochOf), 2, 'the first renewed too late')
      t.equal(await one.run('placement', epochOf), undefined)
      await two.release()
      clock.now += leaseMs / 2
      t.equal(await one.run('placement', epochOf), 3, 'the lease was released')
    },
  )

  void t.test('of many concurrent processes one gets the task', async (t) => {
    const store = await factory.open(t)
    const processes = Array.from({ length: 8 }, () =>
      createLeases({ store, now: () => 1000, isAlone: false }),
    )

    const epochs = await Promise.all(processes.map((leases) => leases.run('silence', epochOf)))

    t.strictSame(
      epochs.filter((epoch) => epoch !== undefined),
      [1],
    )
  })

  void t.test('a process that slept through its lease writes nothing when it wakes', async (t) => {
    const { store, one, two, clock } = await startTwo(t, factory)
    const id = await addAgent(store.queries, 'edge')
    const write = (lease: Lease, name: string) =>
      store.decide(async (queries) => {
        await requireLease(queries, lease)
        await queries.updateTable('agents').set({ name }).where('id', '=', id).execute()
        return name
      })

    const slept = await one.run('placement', async (lease) => {
      clock.now += leaseMs + 1
      t.equal(await two.run('placement', (its) => write(its, 'of-two')), 'of-two')
      return write(lease, 'of-one')
    })

    t.equal(slept, undefined)
    const row = await store.queries.selectFrom('agents').select('name').executeTakeFirst()
    t.equal(row?.name, 'of-two')
    t.equal(await one.run('placement', epochOf), undefined)
  })

  void t.test('a process that runs alone takes over the leases of an earlier one', async (t) => {
    const store = await factory.open(t)
    const left = { task: 'placement', holder: 'earlier', expiresAt: 9e12, now: 0 }
    await store.decide((queries) => takeLease(queries, left))

    const alone = createLeases({ store, now: () => 1000, isAlone: true })

    t.equal(await alone.run('placement', epochOf), 2)
  })

  void t.test('an error in a task is thrown to its caller', async (t) => {
    const { one } = await startTwo(t, factory)

    await t.rejects(
      one.run('cleanup', () => Promise.reject(new Error('no disk'))),
      { message: 'no disk' },
    )
    t.equal(await one.run('cleanup', epochOf), 1)
  })

  void t.test(
    'a deploy whose owner fell silent is taken over once, and the owner loses it',
    async (t) => {
      const { queries } = await factory.open(t)
      const deploy = await addDeploy(queries, {
        groupId: await addGroup(queries, 'site', await addFile(queries, 'main.vcl')),
        owner: 'one',
        leaseExpiresAt: 1000,
      })
      const mine = { id: deploy, epoch: 1 }
      t.ok(await renewDeploy(queries, mine, 2000))
      const take = (owner: string, now: number) =>
        takeExpiredDeploys(queries, { owner, now, leaseExpiresAt: now + 1000 })
      t.strictSame(await take('two', 2000), [], 'not before the lease expires')

      const taken = await Promise.all(['two', 'three', 'four'].map((owner) => take(owner, 2001)))

      const [theirs, ...others] = taken.flat()
      t.match(theirs, { id: deploy, epoch: 2, owner: /two|three|four/ })
      t.strictSame(others, [])
      t.notOk(await holdsDeploy(queries, mine))
      t.notOk(await renewDeploy(queries, mine, 9000))
      t.notOk(await deleteDeploy(queries, mine))
      t.equal((await readDeploys(queries)).length, 1)
      t.ok(theirs && (await holdsDeploy(queries, theirs)))
      t.ok(theirs && (await deleteDeploy(queries, theirs)))
      t.strictSame(await readDeploys(queries), [])
    },
  )

  void t.test('of concurrent links that claim an agent one succeeds', async (t) => {
    const { queries } = await factory.open(t)
    const id = await addAgent(queries, 'edge')
    const claim = (before: string | null, linkId: string) =>
      claimLink(queries, id, { before, linkId })

    const claims = await Promise.all(['a', 'b', 'c'].map((linkId) => claim(null, linkId)))
    t.equal(claims.filter(Boolean).length, 1)
    const [row] = await readLinks(queries, [id, id + 1])
    t.match(row?.linkId, /^[abc]$/)

    t.notOk(await claim('x', 'y'), 'it has another link by now')
    t.ok(await claim(row?.linkId ?? null, 'd'), 'a link that is known to be gone is replaced')
    await releaseLink(queries, id, 'a')
    t.equal((await readLinks(queries, [id]))[0]?.linkId, 'd', 'the link of another stays')
    await releaseLink(queries, id, 'd')
    t.ok(await claim('d', 'e'), 'released since it was read')
  })
}

async function startTwo(t: Test, factory: StoreFactory) {
  const store: Store = await factory.open(t)
  const clock = { now: 1_000_000 }
  const make = () => createLeases({ store, now: () => clock.now, isAlone: false })
  return { store, clock, one: make(), two: make() }
}

function epochOf({ epoch }: Lease): Promise<number> {
  return Promise.resolve(epoch)
}
