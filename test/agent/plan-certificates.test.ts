/** The plan converges from any list of a cache and any history. A small model of the cache executes the steps. */
import fc from 'fast-check'
import t from 'tap'
import {
  planCertificates,
  settleClaims,
  type CertificateClaim,
  type CertificateStep,
} from '../../src/agent/certificates/plan-certificates.js'
import {
  certificateIdOf,
  certificateName,
  type DesiredCertificate,
} from '../../src/vcl/desired-certificates.js'

interface Row {
  readonly id: string
  readonly status: 'active' | 'staged' | 'discard'
}

interface World {
  rows: readonly Row[]
  claims: readonly CertificateClaim[]
}

const all = ['cf-1-00000001', 'cf-1-00000002', 'cf-2-00000003', 'cf-3-00000004']
const sha = '0'.repeat(64)

const desired = fc
  .uniqueArray(fc.record({ name: fc.constantFrom(...all), staged: fc.boolean() }), {
    selector: ({ name }) => name,
  })
  .map((some): DesiredCertificate[] =>
    some.map(({ name, staged }) => ({ name, sha, ...(staged && { staged }) })),
  )
const rows = fc.array(
  fc.record({
    id: fc.constantFrom(...all, 'by-hand'),
    status: fc.constantFrom<Row['status']>('active', 'staged', 'discard'),
  }),
  { maxLength: 6 },
)
const claims = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom(...all),
    sha: fc.constant(sha),
    state: fc.constantFrom<CertificateClaim['state']>('loading', 'committed', 'discarded'),
  }),
  { selector: ({ name }) => name },
)

function play(world: World, step: CertificateStep): void {
  switch (step.do) {
    case 'resync': {
      const active = world.rows.filter(({ status }) => status !== 'staged')
      const ids = [...new Set(active.map(({ id }) => id))]
      world.rows = ids.map((id) => ({ id, status: 'active' }))
      world.claims = settleClaims(world.claims, world.rows)
      break
    }
    case 'load':
      world.rows = [...world.rows, { id: step.name, status: 'staged' }]
      world.claims = [
        ...world.claims.filter(({ name }) => name !== step.name),
        { name: step.name, sha, state: 'loading' },
      ]
      break
    case 'discard':
      world.rows = world.rows.map((row) =>
        row.id === step.name && row.status === 'active' ? { ...row, status: 'discard' } : row,
      )
      break
    case 'commit': {
      world.rows = world.rows
        .filter(({ status }) => status !== 'discard')
        .map(({ id }) => ({ id, status: 'active' }))
      const listed = new Set(world.rows.map(({ id }) => id))
      world.claims = world.claims.map((claim) => ({
        ...claim,
        state: listed.has(claim.name) ? 'committed' : 'discarded',
      }))
      break
    }
    case 'forget':
      world.claims = world.claims.filter(({ name }) => name !== step.name)
  }
}

void t.test('the cache ends up with exactly the desired certificates of ours', (t) => {
  fc.assert(
    fc.property(desired, rows, claims, (wanted, rows, claims) => {
      // Each certificate of ours on the cache was claimed before it was loaded.
      const known = new Set(claims.map(({ name }) => name))
      const world: World = {
        rows: rows.filter(({ id }) => id === 'by-hand' || known.has(id)),
        claims,
      }
      for (let round = 0; round < 8; round++) {
        const steps = planCertificates({ desired: wanted, ...world })
        if (steps.length === 0) break
        for (const step of steps) play(world, step)
      }
      t.same(planCertificates({ desired: wanted, ...world }), [], 'nothing is left to do')
      const own = world.rows.filter(({ id }) => id !== 'by-hand').map(({ id }) => id)
      t.same(own.toSorted(), wanted.map(({ name }) => name).toSorted())
      for (const { name, staged } of wanted)
        if (staged !== true) t.match(world.rows.find(({ id }) => id === name)?.status, 'active')
      t.same(
        world.claims.map(({ name }) => name).toSorted(),
        own.toSorted(),
        'no file is left over',
      )
    }),
    { numRuns: 300 },
  )
  t.end()
})

void t.test('a name on the cache maps back to its certificate, a foreign name to none', (t) => {
  t.equal(certificateName(17, `01234567${'f'.repeat(56)}`), 'cf-17-01234567')
  t.equal(certificateIdOf('cf-17-01234567'), '17')
  t.equal(certificateIdOf('cf-17-by-hand'), '')
  t.end()
})
