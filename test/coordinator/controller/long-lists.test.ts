/** Lists longer than one read: complete, in order, and equal to their pages. */
import t from 'tap'
import { enrol, startClient, type Client, type Json } from './client.js'
import { seed } from './seeded.js'

void t.test('a list of more agents than one read is complete and in order', async (t) => {
  const client = await startClient(t)
  await enrol(client, 'edge-0', { tags: ['rack'] })
  const { queries } = client.service.store
  const { id, ...row } = await queries.selectFrom('agents').selectAll().executeTakeFirstOrThrow()
  t.equal(id, 1)
  for (let start = 1; start < 1200; start += 100)
    await queries
      .insertInto('agents')
      .values(
        Array.from({ length: 100 }, (_, n) => ({
          ...row,
          name: `edge-${start + n}`,
          keyDigest: `digest-${start + n}`,
        })),
      )
      .execute()

  const answer = await client.send('GET', '/agents?sort=name:desc')

  const names = (JSON.parse(answer.text) as Json[]).map((agent) => String(agent['name'])) // a list of agents
  t.equal(answer.headers.get('x-total-count'), '1201')
  t.equal(names.length, 1201)
  t.same(names, names.toSorted().reverse())
  t.equal((await client.list('/agents?tags.name=rack')).length, 1)
})

/** The lists whose rows are copied: path, table and unique column. */
const copied = [
  ['/tags', 'tags', 'name'],
  ['/files', 'files', 'name'],
  ['/domains', 'domains', 'fqdn'],
  ['/deployments', 'deployments', 'name'],
  ['/vclgroups', 'vclGroups', 'name'],
  ['/organizations', 'organizations', 'name'],
  ['/accounts', 'accounts', 'name'],
  ['/jointokens', 'joinTokens', 'digest'],
  ['/sessions', 'sessions', 'refreshDigest'],
] as const

void t.test('every whole list equals its pages one after the other', async (t) => {
  const client = await startClient(t)
  await seed(client, 1)
  for (const [path, table, unique] of copied) {
    await copyRow(client, table, unique)
    for (const query of ['sort=id:desc', 'id=*1,*2', 'sort=created']) {
      const whole = await client.send('GET', `${path}?${query}`)
      const pages = [
        ...(await client.list(`${path}?${query}&take=400`)),
        ...(await client.list(`${path}?${query}&take=1000,400`)),
      ]
      t.same(withoutSince(JSON.parse(whole.text)), withoutSince(pages), `${path}?${query}`)
      t.equal(whole.headers.get('x-total-count'), String(pages.length))
    }
  }
  const { length } = await client.list('/deployments')
  t.ok(length > 700)
  t.equal((await client.list('/deployments?stateName=*')).length, length, 'by a computed field')
})

/** Nothing follows problems here, so `since` of a problem is the time of the call. */
function withoutSince(rows: unknown): unknown {
  const text = JSON.stringify(rows, (key, value: unknown) => (key === 'since' ? undefined : value))
  return JSON.parse(text)
}

async function copyRow({ service }: Client, table: string, unique: string): Promise<void> {
  const queries = service.store.queries.withTables<Record<string, Json>>()
  const { id, ...row } = await queries.selectFrom(table).selectAll().executeTakeFirstOrThrow()
  for (let start = 0; start < 700; start += 100)
    await queries
      .insertInto(table)
      .values(
        Array.from({ length: 100 }, (_, n) => ({
          ...row,
          [unique]: `${String(row[unique])}-${String(id)}-${start + n}`,
        })),
      )
      .execute()
}
