/** Grants: what is never allowed, and that users cannot grant more than they hold. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import {
  findExcess,
  isAdministrator,
  may,
  mayGrant,
  organizationRoles,
  permissionTypes,
  toGrants,
  toPermissions,
  type Access,
  type Actor,
  type Grants,
  type Rights,
} from '../../src/resources/permission.js'

const accesses = ['read', 'write'] as const
const type = fc.constantFrom(...permissionTypes)
const grants: fc.Arbitrary<Grants> = fc
  .dictionary(type, fc.constantFrom<Access>(...accesses), { maxKeys: 6 })
  .map((given) => ({ ...given })) // without the library's null prototype
const standing: fc.Arbitrary<Rights> = fc.record({
  role: fc.constantFrom(...organizationRoles),
  grants,
})
const actor: fc.Arbitrary<Actor> = fc
  .tuple(fc.constantFrom<Actor['role']>('system', ...organizationRoles), grants, fc.option(grants))
  .map(([role, held, limits]) => actorOf(role, held, limits))

function actorOf(role: Actor['role'], held: Grants, limits: Grants | null = null): Actor {
  return {
    accountId: 1,
    accountName: 'anna',
    sessionId: 1,
    role,
    grants: held,
    organizationId: role === 'system' ? null : 1,
    ...(limits && { limits }),
  }
}

/** All its rights, as `type:access`. */
function rightsOf(who: Actor): Set<string> {
  return new Set(
    permissionTypes.flatMap((each) =>
      accesses.filter((access) => may(who, each, access)).map((access) => `${each}:${access}`),
    ),
  )
}

function isWithin(part: ReadonlySet<string>, whole: ReadonlySet<string>): boolean {
  return [...part].every((right) => whole.has(right))
}

void t.test('a regular user has its granted rights; administrators have all', (t) => {
  const bert = actorOf('regular', { tag: 'read', file: 'write' })
  t.same([...rightsOf(bert)], ['file:read', 'file:write', 'tag:read'])
  for (const role of ['system', 'administrator'] as const)
    t.equal(rightsOf(actorOf(role, {})).size, permissionTypes.length * 2)
  t.same([...rightsOf(actorOf('system', {}, { tag: 'read' }))], ['tag:read'])
  t.equal(rightsOf(actorOf('administrator', {}, {})).size, 0)
  t.end()
})

void t.test('write implies read for everyone', (t) => {
  fc.assert(
    fc.property(actor, type, (who, each) => may(who, each, 'read') || !may(who, each, 'write')),
  )
  t.end()
})

void t.test('an API token never has more rights than its account or its own limits', (t) => {
  fc.assert(
    fc.property(actor, grants, ({ role, grants: held }, limits) => {
      const rights = rightsOf(actorOf(role, held, limits))
      const ofAccount = rightsOf(actorOf(role, held))
      const ofLimits = rightsOf(actorOf('regular', limits))
      return isWithin(rights, ofAccount) && isWithin(rights, ofLimits)
    }),
  )
  t.end()
})

void t.test('an excess is found exactly when a requested right is not held', (t) => {
  fc.assert(
    fc.property(actor, grants, (who, wanted) => {
      const isHeld = isWithin(rightsOf(actorOf('regular', wanted)), rightsOf(who))
      return (findExcess(who, wanted) === undefined) === isHeld
    }),
  )
  t.end()
})

void t.test('without write on perm, a user cannot grant more than it holds', (t) => {
  fc.assert(
    fc.property(actor, standing, (who, wanted) => {
      if (may(who, 'perm', 'write')) return mayGrant(who, wanted)
      if (!mayGrant(who, wanted)) return true
      const made = actorOf(wanted.role, wanted.grants)
      return !isAdministrator(wanted) && isWithin(rightsOf(made), rightsOf(who))
    }),
  )
  t.end()
})

void t.test('along a chain of grants rights only shrink until somebody has write on perm', (t) => {
  fc.assert(
    fc.property(actor, fc.array(standing, { maxLength: 8 }), (first, chain) => {
      fc.pre(!may(first, 'perm', 'write'))
      let last = first
      for (const wanted of chain)
        if (mayGrant(last, wanted)) last = actorOf(wanted.role, wanted.grants)
      return isWithin(rightsOf(last), rightsOf(first))
    }),
  )
  t.end()
})

void t.test('converting grants to permissions and back preserves them', (t) => {
  fc.assert(
    fc.property(grants, (given) => {
      assert.deepEqual(toGrants(toPermissions(given)), given)
    }),
  )
  const tag = 'tag' as const
  t.same(
    toGrants([
      { type: tag, read: true, write: false },
      { type: tag, read: false, write: true },
      { type: tag, read: true, write: false },
      { type: 'file', read: false, write: false },
    ]),
    { tag: 'write' },
  )
  t.end()
})
