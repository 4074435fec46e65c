/** A freeze and the rollouts that it affects. */
import t from 'tap'
import { findFreezeStep } from '../../../src/coordinator/rollouts/hold-frozen.js'
import { rolloutStates } from '../../../src/resources/rollout.js'
import { startService } from '../gateway/service.js'
import { addOrganization } from '../store/rows.js'
import { makeRollout } from './made-rollout.js'

const { Loading, Switching, Baking, Paused, RollingBack } = rolloutStates

void t.test('a freeze pauses running rollouts, and its end resumes them', async (t) => {
  const service = await startService(t)
  const { queries } = service.store
  const organizationId = await addOrganization(queries, 'red')
  const now = service.now()
  const freeze = async (frozen: object | null): Promise<void> => {
    await queries
      .updateTable('organizations')
      .set({ frozen: frozen && JSON.stringify(frozen) })
      .where('id', '=', organizationId)
      .execute()
  }
  const until = Math.ceil(now / 1000) + 60
  const before = { state: Baking, organizationId, startedAt: now - 1000, reason: null, waves: [] }
  const find = (change: Partial<Parameters<typeof findFreezeStep>[1]>) =>
    findFreezeStep(service, { ...before, ...change })

  for (const state of [Loading, Switching, Baking, Paused, RollingBack])
    t.equal(await find({ state }), undefined, 'nothing is frozen')
  await freeze({ until, reason: 'the sale', since: now })
  for (const state of [Switching, Baking])
    t.match(await find({ state }), { do: 'pause', verdict: null, reason: /the sale/ })
  for (const state of [Loading, RollingBack]) t.equal(await find({ state }), undefined)
  t.equal(await find({ state: Baking, startedAt: now + 1 }), undefined, 'it was forced')
  const { waves } = makeRollout({ groupId: 1, groupName: 'site', organizationId })
  const forced = (forcedAt: number) => waves.map((wave) => ({ ...wave, forcedAt }))
  t.equal(await find({ state: Baking, waves: forced(now) }), undefined, 'continuing was forced')
  t.match(await find({ state: Baking, waves: forced(now - 1) }), { do: 'pause' }, 'forced earlier')

  const step = await find({ state: Baking })
  const held = { state: Paused, reason: step?.do === 'pause' ? step.reason : '' } as const
  t.equal(await find(held), undefined, 'it stays paused')
  await freeze({ until: Math.floor(now / 1000) - 1, reason: 'the sale', since: now - 2000 })
  t.same(await find(held), { do: 'bakeAnew' })
  t.equal(await find({ ...held, reason: 'paused by anna' }), undefined, 'only a person resumes it')
})
