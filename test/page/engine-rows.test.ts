/** How the page reads a cache's answers: backend health and its override, names of VCLs, changed parameters. */
import t from 'tap'
import type { Group } from '../../src/resources/vclgroup.js'
import { describeHealth } from '../../src/page/views/backends/describe-health.js'
import { nameVcl } from '../../src/page/views/cache/name-vcls.js'
import type { Whoami } from '../../src/resources/session.js'
import {
  isOwn,
  isReachable,
  joinLines,
  nameForHealth,
  filterParameters,
  readHealthSet,
  toParameterRows,
  toUndoValue,
} from '../../src/page/views/cache/engine-rows.js'

void t.test('only the system administrator can change a shared cache', (t) => {
  const who = (organization: Whoami['organization']): Whoami => ({
    account: { id: 1, name: 'eva' },
    organization,
    role: 'regular',
    permissions: [],
    session: { id: 1 },
  })
  const shop = { id: 1, name: 'shop' }

  t.ok(isOwn({ organization: null }, who(null)))
  t.notOk(isOwn({ organization: null }, who(shop)))
  t.ok(isOwn({ organization: shop }, who(shop)))
  t.notOk(isOwn({ organization: { id: 2, name: 'other' } }, who(shop)))
  t.end()
})

void t.test('a cache that is Down, locked or only retrieving cannot be changed', (t) => {
  t.same(
    ([1, 2, 3, 4, 5] as const).filter((state) => isReachable({ state })),
    [1, 2],
  )
  t.end()
})

void t.test('health is set by group and backend, or else by the backend’s name', (t) => {
  t.equal(nameForHealth('cf-12-abc.origin'), '12.origin')
  t.equal(nameForHealth('cf-idle.default'), 'default')
  t.equal(nameForHealth('boot.origin'), 'origin')
  t.end()
})

void t.test('a VCL is named by its group, and by its revision if it serves', (t) => {
  const place = { agent: { id: 7, name: 'edge' }, state: 'applied', revision: 3 }
  const of = {
    agentId: 7,
    vcls: [
      { name: 'cf-12-aaaaaaaa-1', status: 'available', label: null },
      { name: 'cf-12-bbbbbbbb-2', status: 'available', label: null },
      { name: 'cf-12-cccccccc-1', status: 'available', label: null },
      { name: 'cf-l-12', status: 'available', label: 'cf-12-bbbbbbbb-2' },
      { name: 'cf-s-12', status: 'available', label: 'cf-12-cccccccc-1' },
      { name: 'cf-9-dddddddd-1', status: 'active', label: null },
    ].map((vcl) => ({ ...vcl, state: 'auto', temperature: null, busy: null })),
    groups: [{ id: 12, name: 'shop', agentStates: [place] } as unknown as Group],
  }
  const named = [
    ['cf-12-bbbbbbbb-2', 'shop, revision 3'],
    ['cf-12-aaaaaaaa-1', 'shop, does not serve'],
    ['cf-12-cccccccc-1', 'shop, stage'],
    ['cf-l-12', 'shop, label'],
    ['cf-s-12', 'shop, label of its stage'],
    ['cf-9-dddddddd-1', 'group 9, serves'],
    ['cf-r-0a1b2c3d', 'Routing by host'],
    ['cf-idle', 'Idle VCL, answers 503'],
    ['boot', 'boot'],
  ] as const
  for (const [name, words] of named) t.equal(nameVcl(name, of), words)
  t.end()
})

void t.test('the health of a group’s backend is summarized', (t) => {
  const words = (healthy: number, sick: number) => describeHealth({ healthy, sick }).words
  t.same(
    [words(3, 0), words(0, 1), words(0, 3), words(2, 1), words(0, 0)],
    ['Healthy', 'Sick', 'Sick on all 3', 'Sick on 1 of 3', 'Unknown'],
  )
  t.end()
})

void t.test('without a probe, healthy means that no override is set', (t) => {
  const backend = { name: 'a.b', type: null, good: 0, isHealthy: true, lastChangeSeconds: null }

  t.equal(readHealthSet({ ...backend, adminHealth: 'healthy', total: 0 }), 'auto')
  t.equal(readHealthSet({ ...backend, adminHealth: 'healthy', total: 8 }), 'healthy')
  t.equal(readHealthSet({ ...backend, adminHealth: 'probe', total: 8 }), 'auto')
  t.equal(readHealthSet({ ...backend, adminHealth: 'sick', total: 0 }), 'sick')
  t.end()
})

void t.test('changed parameters are found, and undo restores their values', (t) => {
  const parameter = { default: '120.000', unit: 'seconds', description: 'The TTL assigned' }
  const rows = toParameterRows({
    default_ttl: { ...parameter, value: '60.000' },
    default_grace: { ...parameter, value: '120.000' },
  })
  const [flag] = toParameterRows({ ban_dups: { ...parameter, value: 'on', unit: 'bool' } })
  const names = (text: string, isChanged: boolean) =>
    filterParameters(rows, { text, isChanged }).map(({ id }) => id)

  t.same(names('', true), ['default_ttl'])
  t.same(names('grace', false), ['default_grace'])
  t.same(names('ttl assigned', false), ['default_ttl', 'default_grace'])
  t.same(rows.map(toUndoValue), ['60.000', null])
  t.same(
    [...rows, flag].map((row) => row?.unit),
    ['seconds', 'seconds', ''],
  )
  t.end()
})

void t.test('wrapped lines are joined, but not paragraphs and lists', (t) => {
  t.equal(joinLines('one\ntwo\n\nthree\n\t* four'), 'one two\n\nthree\n\t* four')
  t.end()
})
