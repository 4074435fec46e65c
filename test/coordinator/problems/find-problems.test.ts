/** Everything that is not as it should be has a problem with its cause and remedy; everything else has none. */
import fc from 'fast-check'
import t from 'tap'
import { findAgentProblems } from '../../../src/coordinator/problems/find-agent-problems.js'
import { findCertificateProblems } from '../../../src/coordinator/problems/find-certificate-problems.js'
import { findInvalidationProblems } from '../../../src/coordinator/problems/find-invalidation-problems.js'
import {
  findPlaceProblems,
  findStageProblems,
  joinFindings,
} from '../../../src/coordinator/problems/find-place-problems.js'
import { findRolloutProblems } from '../../../src/coordinator/problems/find-rollout-problems.js'
import { toProblems } from '../../../src/coordinator/problems/make-problem.js'
import { agentStates, catchingUp } from '../../../src/resources/agent-state.js'
import { deploymentStates } from '../../../src/resources/deployment.js'
import { invalidationStates } from '../../../src/resources/invalidation.js'
import { maxConcernedAgents, problemCodes, worstSeverity } from '../../../src/resources/problem.js'
import { rolloutStates } from '../../../src/resources/rollout.js'
import { agents, groups, isComplete, nowMs } from './problem-world.js'

const { Down, Failing, Locked } = agentStates
const isIll = (state: number): boolean => [Down, Failing, Locked].some((ill) => ill === state)

void t.test(
  'an agent has a problem exactly when it is Down, Failing, Locked, drifts, drains or lacks a log',
  (t) => {
    fc.assert(
      fc.property(agents, fc.boolean(), (agent, whole) => {
        const found = findAgentProblems(agent, whole)
        const drifts = whole && agent.drift !== null && agent.drift.healedAt === null
        const drains = agent.draining !== null
        const lacksLog = whole && agent.logTrouble !== null && !isIll(agent.state)
        return (
          found.length ===
            Number(isIll(agent.state)) + Number(drifts) + Number(lacksLog) + Number(drains) &&
          found.every((one) => isComplete(one) && one.sinceMs !== null)
        )
      }),
    )
    t.end()
  },
)

void t.test('a cache that catches up with invalidations is behind, not failing', (t) => {
  fc.assert(
    fc.property(agents, (agent) => {
      const [found] = findAgentProblems(
        { ...agent, state: Failing, engineError: catchingUp, drift: null },
        true,
      )
      return found?.code === 'behind-on-invalidations'
    }),
  )
  t.end()
})

void t.test('a caller that only shares an agent sees nothing of changes made there', (t) => {
  fc.assert(
    fc.property(agents, (agent) => {
      const told = JSON.stringify(findAgentProblems(agent, false))
      return !told.includes('handmade') && !told.includes('agents unlock')
    }),
  )
  t.end()
})

void t.test('a group has problems exactly when its state is not a good one', (t) => {
  const { Active, Inactive, Degraded, Error, Orphan } = deploymentStates
  fc.assert(
    fc.property(groups, (group) => {
      const found = findPlaceProblems(group, 'shop')
      const codes = new Set(found.map(({ code }) => code))
      fc.pre(group.state !== deploymentStates.Deploying)
      const mustBe =
        [Degraded, Error, Orphan].some((bad) => bad === group.state) ||
        (group.state === Inactive && group.failedDeploy !== null)
      return (
        found.every(isComplete) &&
        codes.size === found.length &&
        found.length > 0 === mustBe &&
        (group.state !== Active || found.length === 0) &&
        codes.has('below-min') === (group.state === Error) &&
        codes.has('no-agent-fits') === (group.state === Orphan)
      )
    }),
  )
  t.end()
})

void t.test('the problems of a group name only its deployments and its agents', (t) => {
  fc.assert(
    fc.property(groups, (group) => {
      const own = new Set([
        ...group.places.map(({ agentId }) => `agent ${agentId}`),
        ...group.deployments.map(({ id }) => `deployment ${id}`),
      ])
      const stage = findStageProblems(group.places, 'shop')
      const objects = [...findPlaceProblems(group, 'shop'), ...stage].flatMap(
        (one) => one.objects ?? [],
      )
      return objects.every(({ type, id }) => own.has(`${type} ${id}`))
    }),
  )
  t.end()
})

void t.test('a stage has a problem exactly when one of its places is in trouble', (t) => {
  fc.assert(
    fc.property(groups, ({ places }) => {
      const isBad = places.some(({ state, agentState }) => state === 'failed' || isIll(agentState))
      const found = findStageProblems(places, 'shop')
      const goesBack = found.every(({ remedy }) => !remedy.includes('rollback'))
      return found.every(isComplete) && goesBack && found.length > 0 === isBad
    }),
  )
  t.end()
})

void t.test('a deployment has each code of its groups once, with all their objects', (t) => {
  fc.assert(
    fc.property(fc.array(groups, { maxLength: 4 }), (several) => {
      const ofGroups = several.map((group) => findPlaceProblems(group, null))
      const joined = joinFindings(ofGroups)
      const codes = joined.map(({ code }) => code)
      const all = ofGroups.flat()
      const objectsOf = (code: string) =>
        new Set(
          all
            .filter((one) => one.code === code)
            .flatMap((one) => one.objects ?? [])
            .map(({ type, id }) => `${type} ${id}`),
        )
      return (
        joined.every(isComplete) &&
        new Set(codes).size === codes.length &&
        all.every(({ code }) => codes.includes(code)) &&
        joined.every(({ code, objects = [] }) => objects.length === objectsOf(code).size)
      )
    }),
  )
  t.end()
})

void t.test('an invalidation has a problem when caches did not execute it', (t) => {
  const { Failed, Retrying, Waiting } = invalidationStates
  const entry = { id: 7, updatedAt: nowMs - 1000, finishedAt: null, expiresAt: nowMs + 1000 }
  for (const state of Object.values(invalidationStates)) {
    const found = findInvalidationProblems(entry, { state, done: 1, total: 3 })
    const isBad = [Failed, Retrying, Waiting].some((bad) => bad === state)
    t.equal(found.length, Number(isBad), String(state))
    t.ok(found.every(isComplete))
  }
  t.end()
})

void t.test(
  'a certificate is a warning three weeks before it expires, an error in its last week',
  (t) => {
    const days = (count: number): number => nowMs + count * 24 * 3600 * 1000
    const severityAt = (notAfter: number): number =>
      worstSeverity(
        toProblems(
          findCertificateProblems(
            {
              name: 'shop',
              notAfter,
              deployError: null,
              state: deploymentStates.Active,
              places: [],
            },
            nowMs,
          ),
          () => nowMs,
        ),
      )
    t.same([22, 21, 8, 7, 0, -3].map(days).map(severityAt), [0, 2, 2, 3, 3, 3])
    t.end()
  },
)

void t.test('a certificate has problems exactly when its state is not a good one', (t) => {
  const { Degraded, Error, Orphan } = deploymentStates
  const agent = { id: 1, name: 'edge-1', state: Down }
  const places = [{ agent, hasFailed: false, error: null }]
  for (const state of Object.values(deploymentStates)) {
    const judged = { name: 'shop', notAfter: nowMs * 2, deployError: null, state, places }
    const isBad = [Degraded, Error, Orphan].some((bad) => bad === state)
    const found = findCertificateProblems(judged, nowMs)
    t.equal(found.length > 0, isBad, String(state))
    t.ok(found.every(isComplete))
    const failed = findCertificateProblems({ ...judged, deployError: 'it refused' }, nowMs)
    t.ok(failed.some(({ code }) => code === 'load-failed'))
  }
  t.end()
})

void t.test('a remedy names a rollback only where there is a group to roll back', (t) => {
  const names = (found: readonly { readonly remedy: string }[]) =>
    found.filter(({ remedy }) => remedy.includes('rollback')).length
  fc.assert(
    fc.property(groups, (group) => {
      const refused = findPlaceProblems(group, 'shop').filter(
        ({ code, objects = [] }) => code === 'load-failed' && objects.length > 0,
      )
      return names(findPlaceProblems(group, null)) === 0 && names(refused) === refused.length
    }),
  )
  t.end()
})

void t.test('problems are listed worst first, each with the severity of its code', (t) => {
  fc.assert(
    fc.property(groups, (group) => {
      const told = toProblems(findPlaceProblems(group, 'shop'), () => nowMs)
      const severities = told.map(({ severity }) => severity)
      return (
        severities.join() === severities.toSorted((a, b) => b - a).join() &&
        told.every(({ code, severity }) => severity === problemCodes[code]) &&
        told.every(({ since }) => new Date(since).toISOString() === since) &&
        told.every(({ objects }) => objects.length <= maxConcernedAgents)
      )
    }),
  )
  t.end()
})

void t.test('a rollout has a problem only while it is paused', (t) => {
  const group = { id: 7, name: 'shop' }
  for (const state of Object.values(rolloutStates))
    for (const isHeld of [false, true]) {
      const judged = { id: 3, state, isHeld, pausedAt: 5, group, reason: 'paused by anna' }
      const found = findRolloutProblems(judged)
      t.ok(found.every(isComplete))
      t.equal(found.length, state === rolloutStates.Paused ? 1 : 0)
      for (const { code, remedy, sinceMs } of found) {
        t.match({ code, sinceMs }, { code: 'rollout-paused', sinceMs: 5 })
        t.match(remedy, isHeld ? /when the freeze ends/ : /`rollouts resume 3`/)
      }
    }
  t.end()
})
