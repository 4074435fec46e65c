/** Quotas are exact under concurrent creation, and the byte count of versions is always their sum. */
import type { Test } from 'tap'
import {
  addVersion,
  deleteFile,
  findFile,
  insertFile,
  lockFile,
} from '../../../src/coordinator/files/file-queries.js'
import { insertDomain } from '../../../src/coordinator/domains/domain-queries.js'
import type { Queries } from '../../../src/coordinator/store/store.js'
import { addOrganization } from './rows.js'
import type { StoreFactory } from './store.contract.js'

const content = { contentType: 'text/plain', sha: 'a', account: 'anna', createdAt: 1 }

export function quotasContract(t: Test, factory: StoreFactory): void {
  void t.test('concurrent creations succeed exactly up to the quota', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const [red, blue] = [
      await addOrganization(queries, 'red'),
      await addOrganization(queries, 'blue'),
    ]
    await give(queries, red, { domains: 5 })

    const made = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        store.transaction((inside) =>
          insertDomain(inside, n < 15 ? red : blue, { fqdn: `s${n}.example`, managedBy: null }, 1),
        ),
      ),
    )

    const refused = made.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as unknown] : [],
    )
    t.equal(refused.length, 10)
    for (const reason of refused)
      t.match(reason, {
        kind: 'conflict',
        errorKey: 'domain',
        message: /^organization "red" has its quota of 5 domains; delete some, or ask/,
      })
    t.same(await countDomains(queries, red), 5)
    t.same(await countDomains(queries, blue), 5, 'another one is not blocked')
  })

  void t.test('versions count in bytes until their file is deleted', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const red = await addOrganization(queries, 'red')
    await give(queries, red, { fileBytes: 100 })
    const make = (name: string, source: string) =>
      store.transaction((inside) =>
        insertFile(
          inside,
          red,
          { name, contentType: 'text/plain', fileType: 3, managedBy: null },
          { ...content, source, encoded: false },
        ),
      )
    const first = await make('first', 'ä'.repeat(20))
    const next = (source: string) =>
      store.transaction(async (inside) => {
        await lockFile(inside, first)
        const file = await findFile(inside, { kind: 'all' }, first)
        if (file) await addVersion(inside, file, { ...content, source, encoded: false })
      })
    await next('x'.repeat(50))

    const full = /^organization "red" has its quota of 100 bytes of file versions; delete files/
    await t.rejects(next('x'.repeat(11)), { message: full })
    await t.rejects(make('second', 'x'.repeat(11)), { message: full })
    await next('x'.repeat(10))
    t.equal(await readBytes(queries, red), 100)

    await store.transaction((inside) => deleteFile(inside, first))
    t.equal(await readBytes(queries, red), 0)
    await make('second', 'x'.repeat(100))
  })
}

async function give(queries: Queries, id: number, quotas: object): Promise<void> {
  await queries
    .updateTable('organizations')
    .set({ quotas: JSON.stringify(quotas) })
    .where('id', '=', id)
    .execute()
}

async function readBytes(queries: Queries, id: number): Promise<number> {
  const { fileBytes } = await queries
    .selectFrom('organizations')
    .select('fileBytes')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return fileBytes
}

async function countDomains(queries: Queries, owner: number): Promise<number> {
  const rows = await queries
    .selectFrom('domains')
    .select('id')
    .where('organizationId', '=', owner)
    .execute()
  return rows.length
}
