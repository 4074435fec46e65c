/** ETag, If-Match and If-None-Match on every editable object, on both databases: no edit is lost unnoticed. */
import t, { type Test } from 'tap'
import type { Store } from '../../../src/coordinator/store/store.js'
import { startPostgres } from '../../support/postgres.js'
import type { CallAnswer } from '../../support/http-call.js'
import { startClient, type Client, type Json } from './client.js'
import { makeEditables, type Editable } from './editables.js'

void t.test('on SQLite', async (t) => {
  await keepsEdits(t, await startClient(t))
})

void t.test('on PostgreSQL', async (t) => {
  const postgres = await startPostgres(t)
  await keepsEdits(t, await startClient(t, await postgres.url()))
})

/** An object of one resource, with calls for it. */
interface Fixture {
  readonly editable: Editable
  put(body: Json, headers?: Record<string, string>): Promise<CallAnswer>
  read(headers?: Record<string, string>): Promise<CallAnswer>
  remove(headers?: Record<string, string>): Promise<CallAnswer>
  /** Runs `edit` after the next call has read the object and before it writes. */
  interpose(edit: () => Promise<unknown>): void
  etag(): Promise<string>
}

async function keepsEdits(t: Test, client: Client): Promise<void> {
  const editables = await makeEditables(client)
  const resources = new Set(
    client.routes.flatMap(({ method, path, edit }) =>
      edit && method === 'PUT' ? [path.replace('/{id}', '')] : [],
    ),
  )
  t.same(new Set(editables.map(({ path }) => path)), resources, 'every resource is covered')
  for (const editable of editables)
    await t.test(editable.path, async (t) => {
      for (const trial of [
        tellsWhatChanged,
        refusesLateEdits,
        mergesIntoWhatIsThere,
        deletesWhatWasSeen,
      ])
        await trial(t, await openFixture(client, editable))
    })
}

async function openFixture(client: Client, editable: Editable): Promise<Fixture> {
  const id = await editable.make()
  const { token } = client
  const call = (method: string, headers: Record<string, string> = {}, body?: Json) =>
    client.call(method, `/api/v1${editable.path}/${id}`, { token, headers, body })
  const { store } = client.service
  const original = { ...store }
  const fixture: Fixture = {
    editable,
    put: (body, headers) => call('PUT', headers, body),
    read: (headers) => call('GET', headers),
    remove: (headers) => call('DELETE', headers),
    interpose: (edit) => {
      const later =
        (name: 'transaction' | 'decide'): Store['decide'] =>
        async (work, options) => {
          Object.assign(store, original)
          await edit()
          return original[name](work, options)
        }
      Object.assign(store, { transaction: later('transaction'), decide: later('decide') })
    },
    etag: async () => (await fixture.read()).headers.get('etag') ?? '',
  }
  return fixture
}

async function tellsWhatChanged(t: Test, fixture: Fixture): Promise<void> {
  const [one, other] = fixture.editable.edits
  const before = await fixture.etag()
  t.match(before, /^"[\w-]{16}\.[\w-]{16}"$/, 'a strong tag')
  const known = await fixture.read({ 'if-none-match': `"x", W/${before}` })
  t.same([known.status, known.text, known.headers.get('etag')], [304, '', before])

  const changed = await fixture.put(one, { 'if-match': `"other", ${before}` })

  t.equal(changed.status, 200, changed.text)
  const after = await fixture.read({ 'if-none-match': before })
  t.equal(after.status, 200)
  t.equal(after.headers.get('etag'), changed.headers.get('etag'), 'PUT returns the same tag')
  t.not(after.headers.get('etag'), before)
  t.equal((await fixture.put(one, { 'if-match': '*' })).status, 200)
  t.equal((await fixture.put(other, { 'if-match': 'no quotes' })).status, 400)
  t.equal((await fixture.remove()).status, 204)
}

async function refusesLateEdits(t: Test, fixture: Fixture): Promise<void> {
  const [one, other, third] = fixture.editable.edits
  const old = await fixture.etag()
  t.equal((await fixture.put(one)).status, 200)
  const late = await fixture.put(other, { 'if-match': old })
  t.equal(late.status, 412)
  t.match(late.body['errorMsg'], /^somebody changed it/)
  const weak = `W/${await fixture.etag()}`
  t.equal(
    (await fixture.put(other, { 'if-match': weak })).status,
    412,
    'a weak tag matches nothing',
  )

  const seen = { 'if-match': await fixture.etag() }
  fixture.interpose(() => fixture.put(other))
  t.equal((await fixture.put(other, seen)).status, 412, 'an interposed edit is detected')

  const both = { 'if-match': await fixture.etag() }
  const answers = await Promise.all([third, { ...third }].map((body) => fixture.put(body, both)))
  const statuses = answers.map(({ status }) => status)
  t.same(statuses.toSorted(), [200, 412], 'one of two concurrent edits wins')
  t.equal((await fixture.remove()).status, 204)
}

async function deletesWhatWasSeen(t: Test, fixture: Fixture): Promise<void> {
  const [one, other] = fixture.editable.edits
  const old = await fixture.etag()
  t.equal((await fixture.put(one)).status, 200)
  t.equal((await fixture.remove({ 'if-match': old })).status, 412)
  const seen = { 'if-match': await fixture.etag() }
  fixture.interpose(() => fixture.put(other))
  t.equal((await fixture.remove(seen)).status, 412, 'an interposed edit is detected')
  t.equal((await fixture.remove({ 'if-match': await fixture.etag() })).status, 204)
}

async function mergesIntoWhatIsThere(t: Test, fixture: Fixture): Promise<void> {
  const { edits, separate } = fixture.editable
  const [one, other] = edits
  fixture.interpose(() => fixture.put(one))
  const answer = await fixture.put(other)
  t.equal(answer.status, 200, answer.text)
  if (separate) t.match((await fixture.read()).body, { ...one, ...other }, 'both edits are kept')
  t.equal((await fixture.remove()).status, 204)
}
