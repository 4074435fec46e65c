/** What is wrong with an object, why, since when and what mends it (docs/behaviour.md, Problems). */
import { id, text, time } from './common-fields.js'
import type { PermissionType } from './permission.js'
import type { Answer, Fields } from './resource.js'

export const severities = { warning: 2, error: 3 } as const
export type Severity = (typeof severities)[keyof typeof severities]

/** Stable: alerts and filters name them. The severity is the least that the code has. */
export const problemCodes = {
  'agent-down': severities.error,
  'agent-locked': severities.error,
  'cache-failing': severities.error,
  'all-backends-sick': severities.error,
  'below-min': severities.error,
  'no-agent-fits': severities.error,
  'load-failed': severities.error,
  'backend-sick': severities.warning,
  'place-waiting': severities.warning,
  drift: severities.warning,
  'behind-on-invalidations': severities.warning,
  'rollout-paused': severities.warning,
  draining: severities.warning,
  /** An error once it was turned off. */
  'webhook-failing': severities.warning,
  /** An error in its last week. */
  'certificate-expires': severities.warning,
  'log-unavailable': severities.warning,
} as const satisfies Readonly<Record<string, Severity>>

export type ProblemCode = keyof typeof problemCodes
const codes = Object.keys(problemCodes) as ProblemCode[]

/** Of an object that is named in a problem: its noun, as in `errorKey`. */
const concerned = { type: text, id, name: text } as const

/** What a problem's `objects` has at most; the message has the whole number. */
export const concernedMost = 20

const problemFields = {
  code: { kind: 'words', of: codes },
  severity: {
    kind: 'words',
    of: [severities.warning, severities.error],
    description: '2 warning, 3 error',
  },
  message: text,
  since: time,
  objects: {
    kind: 'list',
    of: { kind: 'object', fields: concerned },
    description: `What it comes from, at most ${concernedMost} of them`,
  },
  remedy: { ...text, description: 'What mends it' },
} as const satisfies Fields

export const problem = { kind: 'object', fields: problemFields } as const

/** Of an object of the API. */
export const problems = {
  kind: 'list',
  of: problem,
  computed: true,
  description: 'What is wrong with it, the worst first; empty when all is well',
} as const

export type Problem = Answer<typeof problemFields>
export type ConcernedObject = Problem['objects'][number]

/** Of an object with these; 0: all is well. */
export function worstSeverity(found: readonly Pick<Problem, 'severity'>[]): Severity | 0 {
  return found.reduce<Severity | 0>(
    (worst, { severity }) => (severity > worst ? severity : worst),
    0,
  )
}

/** A problem with the object that bears it. */
export const openProblem = {
  kind: 'object',
  fields: { object: { kind: 'object', fields: concerned }, ...problemFields },
} as const

/**
 * What a group and its deployments both bear. Among all that is wrong it is told once: of the deployment where several of its
 * groups have it, else of the group; what caches refused is always of the group.
 */
export const sharedCodes = [
  'below-min',
  'no-agent-fits',
  'place-waiting',
  'load-failed',
] as const satisfies readonly ProblemCode[]

/** `illGroups`: how many groups of the deployment have the code. */
export function isToldByDeployment(code: string, illGroups: number): boolean {
  return illGroups > 1 && code !== 'load-failed'
}

export type OpenProblem = Answer<typeof openProblem.fields>

/** What has problems, and the permission type that is needed to read them. A stage goes by the id and name of its group. */
export const problemBearers = {
  agent: 'agent',
  deployment: 'deployment',
  vclgroup: 'vclgroup',
  stage: 'vclgroup',
  invalidation: 'invalidation',
  certificate: 'certificate',
  webhook: 'webhook',
  rollout: 'vclgroup',
} as const satisfies Readonly<Record<string, PermissionType>>
export type ProblemBearer = keyof typeof problemBearers
export const bearerTypes = Object.keys(problemBearers) as readonly ProblemBearer[]
