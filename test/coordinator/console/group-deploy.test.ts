/** What a deploy reports for each cache of a group of the console. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import {
  isDeployed,
  judgeCache,
  type DeployEnd,
  type DeployPlace,
} from '../../../src/coordinator/console/groups/group-deploy.js'

const cacheId = fc.constantFrom(1, 2, 3)
const place: fc.Arbitrary<DeployPlace> = fc.record({
  state: fc.constantFrom('wanted', 'applying', 'applied', 'failed'),
  candidateState: fc.constantFrom('pending', 'loaded', 'failed', null),
  error: fc.constantFrom(null, 'Expected ;'),
})
const end: fc.Arbitrary<DeployEnd> = fc.oneof(
  fc.array(fc.tuple(cacheId, place)).map((places) => {
    return { kind: 'begun' as const, places: new Map(places) }
  }),
  fc.array(fc.tuple(cacheId, fc.constant('no'))).map((failures) => {
    return { kind: 'uncompilable' as const, message: 'no', failures: new Map(failures) }
  }),
  fc.constant({ kind: 'uncompilable' as const, message: 'include', failures: null }),
  fc.constant({ kind: 'unavailable' as const, message: 'nobody' }),
)
const cache = fc.record({ id: cacheId, isThere: fc.boolean() })

void t.test('a cache is reported as serving only when it is running and serves it', (t) => {
  fc.assert(
    fc.property(end, cache, (ended, one) => {
      const at = ended.kind === 'begun' ? ended.places.get(one.id) : undefined
      const isServing = one.isThere && at?.state === 'applied' && at.candidateState === null
      const { compilation, deploy } = judgeCache(ended, one)
      assert.equal(deploy.statusCode === 200, isServing)
      if (isServing) assert.equal(compilation.statusCode, 200)
    }),
  )
  t.end()
})

void t.test('a refusal carries the message of the cache and fails the deploy', (t) => {
  fc.assert(
    fc.property(end, cache, (ended, one) => {
      const { compilation, deploy } = judgeCache(ended, one)
      if (compilation.statusCode === 400) assert.equal(deploy.statusCode, 400)
      assert.ok(compilation.message !== '' && deploy.message !== '')
      if (ended.kind === 'uncompilable' && ended.failures?.has(one.id) === true)
        assert.equal(compilation.message, 'no')
    }),
  )
  t.end()
})

void t.test('a commit is deployed when there is a cache and every cache serves it', (t) => {
  t.notOk(isDeployed([]))
  fc.assert(
    fc.property(end, fc.array(cache, { minLength: 1 }), (ended, caches) => {
      const outcomes = caches.map((one) => judgeCache(ended, one))
      const isServing = outcomes.every(({ deploy }) => deploy.statusCode === 200)
      assert.equal(isDeployed(outcomes), isServing)
    }),
  )
  t.end()
})

void t.test('missing caches are reported as unavailable', (t) => {
  const away = { id: 1, isThere: false }
  const nowhere: DeployEnd = { kind: 'begun', places: new Map() }
  t.match(judgeCache(nowhere, away), { deploy: { statusCode: 503 } })
  t.match(judgeCache(nowhere, { id: 1, isThere: true }), { deploy: { statusCode: 202 } })
  const place = { state: 'applied', candidateState: null, error: null } as const
  const before: DeployEnd = { kind: 'begun', places: new Map([[1, place]]) }
  t.match(judgeCache(before, away), {
    compilation: { statusCode: 200 },
    deploy: { statusCode: 503, message: /what it served last/ },
  })
  const refused: DeployEnd = { kind: 'uncompilable', message: 'no', failures: new Map([[2, 'no']]) }
  t.match(judgeCache(refused, away), { compilation: { statusCode: 503 } })
  const other = judgeCache(refused, { id: 1, isThere: true })
  t.match(other, { compilation: { statusCode: 200 }, deploy: { statusCode: 409 } })
  t.end()
})
