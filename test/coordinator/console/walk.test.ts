/** The walk over every route of the console, on both stores. */
import t from 'tap'
import { startPostgres } from '../../support/postgres.js'
import { startConsoleTenants } from './tenants.js'
import { sampleOf, samples } from './samples.js'
import { checkHostile, checkRoles, startScene, tenancyContract } from './walk.contract.js'

void t.test('every route has a sample call with the documented permission', async (t) => {
  const { consoleRoutes } = (await startConsoleTenants(t)).controller
  for (const route of consoleRoutes) {
    const { permission, operationId } = route
    const isOfConsole = typeof permission === 'object' && 'console' in permission
    t.equal(isOfConsole ? permission.console : permission, sampleOf(route).needs, operationId)
    const takesJson = route.body && (route.bodyTypes ?? ['json']).includes('json')
    if (takesJson) t.equal(route.ignoresUnknownKeys, true, `${operationId} ignores unknown keys`)
  }
  const gone = Object.keys(samples).filter(
    (name) => !consoleRoutes.some(({ operationId }) => operationId === name),
  )
  t.same(gone, [], 'no sample belongs to a removed route')
})

void t.test('on SQLite', async (t) => {
  const scene = await startScene(t, 'sqlite::memory:')
  await t.test('each role may call exactly its documented routes', (t) => checkRoles(t, scene))
  await tenancyContract(t, scene)
})

void t.test('on PostgreSQL', async (t) => {
  const postgres = await startPostgres(t)
  await t.test('the walk', async (t) => {
    const scene = await startScene(t, await postgres.url())
    await tenancyContract(t, scene)
    // Some of these texts fit SQLite but not PostgreSQL.
    await t.test('no input causes an internal error', (t) => checkHostile(t, scene))
  })
})
