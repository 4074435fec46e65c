/** VCL branches of the console: who can see and change one, and which caches compile a push. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { agentStates } from '../../../src/resources/agent-state.js'
import {
  chooseCompilers,
  mayChangeBranch,
  seesBranch,
  type BranchCache,
  type BranchLocation,
} from '../../../src/coordinator/files/branch.js'
import { consoleRoles, type ConsoleRole } from '../../../src/resources/console-role.js'
import type { Actor } from '../../../src/resources/permission.js'

const organizationId = fc.constantFrom(null, 1, 2)
const groupIds = fc.uniqueArray(fc.integer({ min: 1, max: 4 }))
const place: fc.Arbitrary<BranchLocation> = fc.record({ organizationId, groupIds })
const actor = fc
  .tuple(fc.constantFrom(...consoleRoles), organizationId, groupIds)
  .map(([role, organization, own]) => actorOf(role, organization, own))

function actorOf(role: ConsoleRole, organization: number | null, own: readonly number[]): Actor {
  const isAdmin = role === 'Admin'
  return {
    accountId: 1,
    accountName: 'anna',
    sessionId: 0,
    grants: {},
    role: 'regular',
    organizationId: organization,
    console: { role, groupIds: isAdmin ? null : new Set(own) },
  }
}

void t.test('non-Admins see branches of their groups; a User also sees unused ones', (t) => {
  fc.assert(
    fc.property(actor, place, (caller, branch) => {
      const { role = 'ReadOnly', groupIds: own } = caller.console ?? {}
      if (!own) return
      const isOwn = branch.groupIds.some((id) => own.has(id))
      const isFree = branch.groupIds.length === 0 && role === 'User'
      const isHere = branch.organizationId === caller.organizationId
      assert.equal(seesBranch(caller, branch), isHere && (isOwn || isFree))
    }),
  )
  t.end()
})

void t.test('a changeable branch is visible and not used by groups of others', (t) => {
  fc.assert(
    fc.property(actor, place, (caller, branch) => {
      if (!mayChangeBranch(caller, branch)) return
      assert.ok(seesBranch(caller, branch))
      assert.notEqual(caller.console?.role, 'ReadOnly')
      const own = caller.console?.groupIds
      if (own) assert.ok(branch.groupIds.every((id) => own.has(id)))
    }),
  )
  t.end()
})

void t.test('an Admin changes all of its organization; a non-console caller nothing', (t) => {
  const branch = { organizationId: 1, groupIds: [1, 2] }
  t.ok(mayChangeBranch(actorOf('Admin', 1, []), branch))
  const { console: standing, ...other } = actorOf('Admin', 1, [])
  t.equal(standing?.role, 'Admin')
  t.notOk(seesBranch(other, branch) || mayChangeBranch(other, branch))
  t.notOk(mayChangeBranch(actorOf('User', 1, [1]), branch), 'another group uses it as well')
  t.ok(seesBranch(actorOf('User', 1, [1]), branch))
  t.end()
})

const cache: fc.Arbitrary<BranchCache> = fc.record({
  id: fc.nat(),
  name: fc.string(),
  state: fc.constantFrom(...Object.values(agentStates)),
  release: fc.record({
    product: fc.constantFrom('varnish', 'vinyl'),
    version: fc.constantFrom('6.0.11', '7.1.1', '9.0.1'),
  }),
})

void t.test('a push asks one running cache of each release', (t) => {
  fc.assert(
    fc.property(fc.array(cache), (caches) => {
      const there = caches.filter(({ state }) => state === agentStates.Running)
      const chosen = chooseCompilers(caches)
      assert.ok(chosen.every((one) => there.includes(one)))
      const toText = ({ release }: BranchCache) => `${release.product} ${release.version}`
      const releases = chosen.map(toText)
      assert.deepEqual(new Set(releases), new Set(there.map(toText)))
      assert.equal(new Set(releases).size, releases.length)
    }),
  )
  t.end()
})
