/** Parameter sets: their content, who can see and change them, and how they merge with the own parameters of a cache. */
import fc from 'fast-check'
import t from 'tap'
import type { ConsoleRights } from '../../../src/resources/console-role.js'
import type { DesiredParam } from '../../../src/vcl/engine-settings.js'
import {
  composeParams,
  findParamValuesProblem,
  mayChangeParamSet,
  seesParamSet,
} from '../../../src/coordinator/fleet/param-set.js'
import type { Actor } from '../../../src/resources/permission.js'

const names = fc.constantFrom('default_ttl', 'feature', 'thread_pools', 'constructor')
const values = fc.stringMatching(/^\d{1,2}$/)
const sets = fc.dictionary(names, values)
const ownParams = fc.uniqueArray(fc.record({ name: names, value: values }), {
  selector: ({ name }) => name,
})

function toValues(params: readonly DesiredParam[]): Map<string, string> {
  return new Map(params.map(({ name, value }) => [name, value]))
}

void t.test('the own parameters of a cache override those of its group', (t) => {
  fc.assert(
    fc.property(sets, ownParams, (common, own) => {
      const composed = composeParams(common, own)
      const found = toValues(composed)
      t.same(found, new Map([...Object.entries(common), ...toValues(own)]))
      t.equal(composed.length, found.size, 'each parameter occurs once')
      t.same(
        composed.map(({ name }) => name),
        [...found.keys()].toSorted(),
        'the parameters are sorted by name',
      )
    }),
  )
  t.end()
})

void t.test('without a set a cache keeps its own parameters', (t) => {
  fc.assert(
    fc.property(sets, ownParams, (common, own) => {
      const without = composeParams({}, own)
      t.same(toValues(without), toValues(own))
      t.same(composeParams(common, composeParams(common, own)), composeParams(common, own))
    }),
  )
  t.end()
})

void t.test('a set holds no forbidden parameters and no unsendable values', (t) => {
  t.equal(findParamValuesProblem({ default_ttl: '77', feature: '+http2' }), null)
  t.equal(findParamValuesProblem({}), null)
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`p${n}`, '1']))
  const cases: [Record<string, string>, RegExp][] = [
    [{ cc_command: 'x' }, /cc_command may not be changed by anyone/],
    [{ vmod_path: '/tmp' }, /may not be changed by anyone/],
    [{ jail_user: 'x' }, /may not be changed by anyone/],
    [{ Default_TTL: '1' }, /not a parameter: its name has lower-case/],
    [{ 'a b': '1' }, /not a parameter/],
    [{ default_ttl: '1\n2' }, /params\.default_ttl: value holds/],
    [{ default_ttl: '<< EOF' }, /params\.default_ttl: value holds/],
    [many, /201 parameters; at most 200/],
    [
      Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`p${n}`, 'x'.repeat(1000)])),
      /at most 16384/,
    ],
  ]
  for (const [params, problem] of cases) t.match(findParamValuesProblem(params), problem)
  t.end()
})

const actor = (organizationId: number | null, console: ConsoleRights | undefined): Actor => ({
  accountId: 1,
  accountName: 'a',
  sessionId: 0,
  organizationId,
  role: 'regular',
  grants: {},
  ...(console ? { console } : {}),
})
const groups = fc.uniqueArray(fc.integer({ min: 1, max: 4 }))
const owners = fc.constantFrom(null, 1, 2)

void t.test('a user sees sets of its groups and free sets, and changes none of others', (t) => {
  fc.assert(
    fc.property(owners, owners, groups, groups, (own, organizationId, mine, groupIds) => {
      const user = actor(own, { role: 'User', groupIds: new Set(mine) })
      const set = { organizationId, groupIds }
      const sees = seesParamSet(user, set)
      if (own !== organizationId) t.notOk(sees, 'a set of another owner')
      else t.equal(sees, groupIds.length === 0 || groupIds.some((id) => mine.includes(id)))
      t.equal(mayChangeParamSet(user, set), sees && groupIds.every((id) => mine.includes(id)))
      const admin = actor(own, { role: 'Admin', groupIds: null })
      t.ok(seesParamSet(admin, set) && mayChangeParamSet(admin, set))
      t.notOk(seesParamSet(actor(own, undefined), set), 'callers of the controller see no sets')
    }),
  )
  t.end()
})
