/** What an unlock would change: the agent's own plan, in bounded lists. */
import fc from 'fast-check'
import t from 'tap'
import {
  idleVclName,
  isSameLoad,
  isSameProgram,
  programName,
} from '../../src/vcl/desired-engine.js'
import type { Takeover } from '../../src/vcl/takeover.js'
import type { HeldCache } from '../../src/vcl/held-cache.js'
import { findUnlockDifference, isNothing } from '../../src/vcl/unlock-difference.js'
import { desiredEngines, engineWorlds, type EngineWorld } from '../support/arbitraries.js'

const sha = 'a'.repeat(64)
const site = { name: 'cf-1-aaaaaaaa-1', sha }
const wanted = { load: [site], labels: [], active: site.name }
const idle = { load: [], labels: [], active: idleVclName }
const boot = { name: 'boot', active: true, labelOf: null, ours: false }
const spare = { name: 'spare', active: false, labelOf: null, ours: false }
const held: HeldCache = {
  childRunning: true,
  vcls: [boot, spare],
  omittedVcls: 0,
  takeover: 'registration',
  takenOver: false,
  params: [],
  backends: [],
}
const unchanged = {
  use: null,
  load: [],
  labels: [],
  discard: [],
  params: [],
  backends: [],
  omitted: 0,
}

void t.test('--takeover decides whether the serving VCL is replaced', (t) => {
  const rows: readonly (readonly [Takeover, typeof wanted, object])[] = [
    ['registration', wanted, { use: site.name, load: [site.name], discard: ['boot', 'spare'] }],
    ['registration', idle, { use: 'cf-idle', load: ['cf-idle'], discard: ['boot', 'spare'] }],
    ['first-deploy', wanted, { use: site.name, load: [site.name], discard: ['boot', 'spare'] }],
    ['first-deploy', idle, {}],
    ['adopt', idle, { discard: ['spare'] }],
  ]
  for (const [takeover, desired, changes] of rows)
    t.same(
      findUnlockDifference({ ...held, takeover }, desired),
      { ...unchanged, ...changes },
      `${takeover}, ${desired.active}`,
    )
  t.end()
})

void t.test('VCLs and settings of this coordinator count as ours', (t) => {
  const own = { ...site, active: true, labelOf: null, ours: true }
  const kept = { ...held, vcls: [own], takenOver: true }
  t.ok(isNothing(findUnlockDifference(kept, wanted)))
  const set = { ...kept, params: [{ name: 'default_ttl', value: '5' }] }
  t.same(findUnlockDifference(set, wanted).params, [{ name: 'default_ttl', value: null }])
  const params = [{ name: 'default_ttl', value: '5' }]
  t.ok(isNothing(findUnlockDifference(set, { ...wanted, params })))
  t.same(findUnlockDifference(kept, { ...wanted, params }).params, params)
  const health = [{ backend: 'origin', health: 'sick' as const, groups: null }]
  t.same(findUnlockDifference(kept, { ...wanted, health }).backends, [
    { name: `${site.name}.origin`, health: 'sick' },
  ])
  const sick = { ...kept, backends: [`${site.name}.origin`] }
  t.same(findUnlockDifference(sick, { ...wanted, health }).backends, [])
  t.same(findUnlockDifference(sick, wanted).backends, [
    { name: `${site.name}.origin`, health: 'auto' },
  ])
  t.end()
})

const toHeld = ({ vcls, active, childRunning, ours }: EngineWorld): HeldCache => ({
  ...held,
  childRunning,
  vcls: vcls.map(({ name, labelOf }) => ({
    name,
    labelOf,
    active: name === active,
    ours: [...ours].includes(name),
  })),
})

void t.test('lists contain only existing names, and are bounded', (t) => {
  fc.assert(
    fc.property(engineWorlds, desiredEngines, (world, desired) => {
      const cache = toHeld(world)
      const names = new Set(cache.vcls.map(({ name }) => name))
      const difference = findUnlockDifference(cache, desired)
      if (!difference.discard.every((name) => names.has(name))) return false
      return difference.use === null || difference.use !== world.active
    }),
  )
  const many = Array.from({ length: 250 }, (_, n) => ({ ...spare, name: `spare-${n}` }))
  const large = findUnlockDifference({ ...held, vcls: [boot, ...many], omittedVcls: 7 }, wanted)
  t.equal(large.discard.length, 100)
  t.equal(large.omitted, 151 + 7)
  t.end()
})

void t.test('an adopted VCL is the same load under any name on the cache', (t) => {
  const adopted = { name: 'cf-1-aaaaaaaa-0', sha }
  const reloaded = { name: 'cf-1-aaaaaaaa-2', sha }
  t.ok(isSameLoad({ name: 'boot', sha }, { name: 'reload-7', sha }))
  t.ok(isSameLoad({ name: 'boot', sha }, adopted))
  t.notOk(isSameLoad({ name: 'boot', sha }, reloaded), 'a reload compiles it anew')
  t.notOk(isSameLoad(adopted, reloaded))
  t.notOk(isSameLoad({ name: 'boot', sha }, { name: 'reload-7', sha: 'b'.repeat(64) }))
  t.notOk(isSameLoad({ name: 'boot', sha }, null))
  t.end()
})

void t.test('a program is the same if its VCL and domain names are, in any order', (t) => {
  const sha = '0123456789abcdef'
  const name = programName(7, sha, 2)
  t.equal(name, 'cf-7-01234567-2')
  const program = (...fqdns: string[]) => ({ name, sha, fqdns })
  t.ok(isSameProgram(program('a', 'b'), program('b', 'a')))
  t.notOk(isSameProgram(program('a'), program('b')))
  t.notOk(isSameProgram(program('a'), { ...program('a'), name: programName(7, sha, 3) }))
  t.ok(isSameProgram(null, null))
  t.notOk(isSameProgram(null, program('a')))
  t.end()
})
