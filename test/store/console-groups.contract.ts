/** Groups of the console in the store: what stood before there were any, and what is hidden for them. */
import { CompiledQuery } from 'kysely'
import type { Test } from 'tap'
import type { Database } from '../../src/store/database.js'
import { migrations, runMigrations } from '../../src/store/migrations/run-migrations.js'
import { isForeignKeyViolation } from '../../src/store/violation.js'
import { addFile, addGroup, addTag } from './rows.js'

/** A store from before, with a group and all that refers to it. */
export async function checkGroupsAnew(t: Test, database: Database): Promise<void> {
  const { queries } = database
  await runMigrations(
    database,
    migrations.filter(({ name }) => name < '0052'),
  )
  const run = (statement: string) => queries.executeQuery(CompiledQuery.raw(statement))
  const [main, include] = [await addFile(queries, 'main'), await addFile(queries, 'include')]
  const group = await addGroup(queries, 'site', main)
  const tag = await addTag(queries, 'edge')
  await run(`insert into "vclGroupIncludes" values (${group}, ${include}, 0)`)
  await run('delete from changes')

  await runMigrations(database)

  const changes = queries.selectFrom('changes').select(['kind', 'objectId'])
  t.strictSame(await changes.execute(), [], 'nothing that is shown changed')
  t.match(await queries.selectFrom('vclGroups').selectAll().execute(), [
    { id: group, name: 'site', mainFileId: main, console: 0, revision: 0 },
  ])
  t.strictSame(await queries.selectFrom('tags').select(['id', 'groupId']).execute(), [
    { id: tag, groupId: null },
  ])
  const refused = await run(`delete from files where id = ${main}`).catch((error: unknown) => error)
  t.ok(isForeignKeyViolation(refused), 'a main file in use stays')
  await t.rejects(addTag(queries, 'edge'), 'a name is still unique')
  await run(`update "vclGroups" set name = 'anew'`)
  t.strictSame(await changes.execute(), [{ kind: 'group', objectId: group }])

  await run(`update "vclGroups" set "mainFileId" = null, console = 1`)
  await run(
    `insert into tags (name, "groupId", "createdAt", "updatedAt") values ('edge', ${group}, 1, 1)`,
  )
  await run('delete from "vclGroups"')
  const left = ['tags', 'vclGroupIncludes', 'files'] as const
  const counts = left.map(
    async (table) => (await queries.selectFrom(table).selectAll().execute()).length,
  )
  t.strictSame(await Promise.all(counts), [1, 0, 2], 'what a group has goes with it')
}
