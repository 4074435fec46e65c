/** The walk over every route with two organizations, on both stores. */
import t from 'tap'
import { startPostgres } from '../../support/postgres.js'
import { startTenants } from '../identity/people.js'
import { sampleOf, samples } from './samples.js'
import { walkContract } from './walk.contract.js'

void t.test('every route has a sample call with the permission of the contract', async (t) => {
  const { routes } = (await startTenants(t)).controller
  for (const route of routes) {
    const { permission } = route
    const needs =
      typeof permission === 'string' || 'console' in permission
        ? permission
        : `${permission.type} ${permission.access}`
    t.equal(needs, sampleOf(route).needs, route.operationId)
  }
  const gone = Object.keys(samples).filter(
    (name) => !routes.some(({ operationId }) => operationId === name),
  )
  t.same(gone, [], 'every sample has a route')
})

void t.test('on SQLite', (t) => walkContract(t, 'sqlite::memory:'))

void t.test('on PostgreSQL', async (t) => {
  const postgres = await startPostgres(t)
  await t.test('the walk', async (t) => {
    await walkContract(t, await postgres.url())
  })
})
