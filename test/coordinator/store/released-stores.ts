/** Stores that releases have left, run for each database: each opens, becomes like a new one, and is served. */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Test } from 'tap'
import { vclGroupRoutes } from '../../../src/coordinator/groups/group-routes.js'
import { takeLease } from '../../../src/coordinator/store/lease-queries.js'
import type { Queries, Store } from '../../../src/coordinator/store/store.js'
import { root } from '../../support/root.js'
import { basic } from '../../support/http-call.js'
import { startController } from '../../support/start-controller.js'

const folder = join(root, 'test/fixtures/stores')

interface ReleasedStores {
  readonly database: 'sqlite' | 'postgres'
  /** Returns the URL of a new store made by these statements. */
  restore(t: Test, statements: string): Promise<string>
  open(t: Test, url: string): Promise<Store>
  /** Opens a new store. */
  openNew(t: Test): Promise<Store>
  /** SQL that describes indexes and triggers, by `name`. */
  readonly descriptions: string
}

export function releasedStoresContract(t: Test, stores: ReleasedStores): void {
  const releases = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory())
  for (const { name: release } of releases)
    void t.test(
      `a store of ${release} opens, becomes as new ones are, and is served`,
      async (t) => {
        const read = (name: string) => join(folder, release, `${stores.database}.${name}`)
        const stateDir = mkdtempSync(join(tmpdir(), 'cachefleet-released-'))
        t.teardown(() => {
          rmSync(stateDir, { recursive: true, force: true })
        })
        copyFileSync(read('secret.key'), join(stateDir, 'secret.key'))
        const url = await stores.restore(t, readFileSync(read('sql'), 'utf8'))

        const [opened, fresh] = [await stores.open(t, url), await stores.openNew(t)]
        t.strictSame(
          await describeTables(opened.queries, stores.descriptions),
          await describeTables(fresh.queries, stores.descriptions),
        )
        const lease = { task: 'liveness', holder: 'old', expiresAt: Date.now(), now: Date.now() }
        t.equal(await takeLease(opened.queries, lease), undefined, `${release} marks nobody Down`)

        const resources = vclGroupRoutes
        const controller = await startController(t, { storeUrl: url, stateDir, resources })
        const { body } = await controller.call('POST', '/api/v1/auth/login', {
          headers: { authorization: basic('admin', 'correct horse battery') },
        })
        const token = String(body['accessToken'])
        const { status, text } = await controller.call('GET', '/api/v1/vclgroups', { token })
        t.equal(status, 200)
        t.match(JSON.parse(text), [{ id: 1, name: 'site', deployed: true, revision: 1 }])
        const { status: changed } = await controller.call('DELETE', '/api/v1/vclgroups/1', {
          token,
        })
        t.equal(changed, 409, 'a deployed group stays')
      },
    )
}

async function describeTables(queries: Queries, descriptions: string): Promise<unknown> {
  const tables = await queries.introspection.getTables()
  const { rows } = await sql.raw<{ name: string; sql: string }>(descriptions).execute(queries)
  return {
    columns: tables.map(({ name, columns }) => ({
      name,
      columns: columns.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    })),
    others: rows,
  }
}
