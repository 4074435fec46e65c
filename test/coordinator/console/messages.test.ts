/** The messages of the console: which callers see which actions (docs/behaviour.md, Console). */
import t, { type Test } from 'tap'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { toObjectId } from '../../../src/resources/object-id.js'
import { eventually } from '../../support/eventually.js'
import { basic } from '../../support/http-call.js'
import { idOf, password, rows, type Json } from '../identity/people.js'
import { startConsole } from './console-client.js'

async function start(t: Test) {
  const client = await startConsole(t, { resources: resourceRoutes })
  const { controller, call } = client
  const token = await controller.login()
  const fleet = async (path: string, body: unknown): Promise<number> => {
    const answer = await controller.call('POST', `/api/v1${path}`, { token, body })
    if (answer.status !== 201) t.fail(`${path}: ${answer.status} ${answer.text}`)
    return idOf(answer.body)
  }
  const makeGroup = async (name: string, organization: { readonly id: number }) => {
    const mainVCL = { id: await fleet('/files', { name, source: 'vcl 4.1;', organization }) }
    return fleet('/vclgroups', { name, mainVCL, organization })
  }
  const read = async (as?: string, path = '/v1/message'): Promise<Json[]> => {
    const { status, text, body } = await call('GET', path, as === undefined ? {} : { as })
    if (status !== 200) t.fail(`${path}: ${status} ${text}`)
    return rows(body['list'])
  }
  return { ...client, fleet, makeGroup, read }
}

void t.test('Admins read messages of their organization, others of their groups', async (t) => {
  const { call, fleet, makeGroup, read } = await start(t)
  const organizations: Record<string, { readonly id: number }> = {}
  for (const name of ['red', 'blue']) {
    const organization = { id: await fleet('/organizations', { name }) }
    organizations[name] = organization
    await fleet('/accounts', { name: `${name}-boss`, password, organization })
  }
  const red = organizations['red'] ?? { id: 0 }
  const mine = await makeGroup('mine', red)
  const boss = `red-boss:${password}`
  const body = { username: 'uma', password, role: 'User', groups: [toObjectId('group', mine)] }
  const made = await call('POST', '/v1/user', { as: boss, body })
  t.equal(made.status, 201)
  await call('POST', '/v1/user', { as: `blue-boss:${password}`, body })

  await eventually('all messages are there', async () => (await read()).length >= 8)
  const all = await read()
  t.ok(all.every(({ id }) => /^e0[0-9a-f]{22}$/.test(String(id))))
  t.same(
    all.map(({ id }) => id),
    all
      .map(({ id }) => id)
      .toSorted()
      .reverse(),
    'newest first',
  )
  const ofRed = await read(boss)
  t.same(new Set(ofRed.map(accountOf)), new Set(['red-boss']))
  t.match(ofRed[0], {
    action: ['USER', 'POST'],
    label: 'api',
    severity: 'info',
    title: 'Creates an account with a role',
    extra: { data: { method: 'POST', path: '/api/v1/user', status: 201 } },
  })
  t.same(await read(`uma:${password}`), [], 'only the system administrator acted on its group')
  t.notMatch(JSON.stringify(all), new RegExp(password), 'no message contains a password')

  const [first] = ofRed
  const at = `/v1/message/${String(first?.['id'])}`
  t.same((await call('GET', at, { as: boss })).body, first)
  for (const as of [`uma:${password}`, `blue-boss:${password}`])
    t.equal((await call('GET', at, { as })).status, 404)
})

void t.test('a user reads actions of its Admin on its own groups only', async (t) => {
  const { call, controller, fleet, makeGroup, read } = await start(t)
  const organization = { id: await fleet('/organizations', { name: 'red' }) }
  await fleet('/accounts', { name: 'boss', password, organization })
  const [mine, other] = [
    await makeGroup('mine', organization),
    await makeGroup('other', organization),
  ]
  const boss = `boss:${password}`
  const groups = [toObjectId('group', mine)]
  const body = { username: 'uma', password, role: 'ReadOnly', groups }
  await call('POST', '/v1/user', { as: boss, body })
  const login = await controller.call('POST', '/api/v1/auth/login', {
    headers: { authorization: basic('boss', password) },
    body: { org: 'red' },
  })
  const token = String(login.body['accessToken'])
  for (const id of [other, mine])
    await controller.call('PUT', `/api/v1/vclgroups/${id}`, { token, body: { name: `new ${id}` } })

  const told = await eventually('the message is there', async () => {
    const messages = await read(`uma:${password}`)
    return messages.length > 0 ? messages : undefined
  })
  t.equal(told.length, 1)
  t.match(told[0], { extra: { info: { objectId: groups[0] }, data: { account: 'boss' } } })
})

void t.test('messages are paged; a page past the end is empty', async (t) => {
  const { call, read } = await start(t)
  for (let n = 0; n < 5; n++) await call('POST', '/v1/user', { body: { username: `x${n}` } })
  const all = await eventually('all messages are there', async () => {
    const messages = await read()
    return messages.length >= 6 ? messages : undefined
  })
  t.same(await read(undefined, '/v1/message/2/2'), all.slice(2, 4))
  for (const path of ['/v1/message/9/100', '/v1/message/999999999/1000'])
    t.same(await read(undefined, path), [])
  t.equal((await call('GET', '/v1/message/0/1')).status, 400)
})

function accountOf(message: Json): unknown {
  const { data } = message['extra'] as { data: Json } // part of every message
  return data['account']
}
