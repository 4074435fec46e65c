/** A rollout's row, as a deploy leaves it. */
import type { insertRollout } from '../../../src/coordinator/fleet/rollout-queries.js'
import { completePolicy } from '../../../src/coordinator/rollouts/policy.js'
import { rolloutStates } from '../../../src/resources/rollout.js'

type NewRollout = Parameters<typeof insertRollout>[1]

const sources = {
  mainVCL: { id: 1, name: 'main.vcl', version: 2 },
  includes: [],
  sha: 'b'.repeat(64),
  programName: 'cf-1-bbbbbbbb-1',
  deploymentIds: [],
  domains: [],
  releases: null,
}

/** Succeeded by default. */
export function makeRollout(
  given: Partial<NewRollout> & Pick<NewRollout, 'groupId' | 'groupName' | 'organizationId'>,
): NewRollout {
  return {
    revision: 2,
    fromRevision: 1,
    action: 'deploy',
    state: rolloutStates.Succeeded,
    wave: 1,
    waves: [
      {
        agents: [{ id: 1, name: given.groupName, state: 'switched', error: null }],
        holds: false,
        startedAt: 1,
        switchedAt: 2,
        endedAt: 3,
        verdict: 'pass',
      },
    ],
    gates: [],
    policy: completePolicy({ waves: [{ count: 1 }] }, { errorKey: 'rollout', fqdns: [] }),
    sources,
    fromSources: { ...sources, sha: 'a'.repeat(64), programName: 'cf-1-aaaaaaaa-1' },
    account: 'admin',
    traceId: 'trace-of-it',
    startedAt: 1,
    isAborted: false,
    bakedSeconds: 0,
    ...given,
  }
}
