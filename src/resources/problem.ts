/** Problems of objects: cause, start and remedy (docs/behaviour.md, Problems). */
import { id, text, time } from './common-fields.js'
import type { PermissionType } from './permission.js'
import type { Answer, Fields } from './resource.js'

export const severities = { warning: 2, error: 3 } as const
export type Severity = (typeof severities)[keyof typeof severities]

/** Stable: alerts and filters use them. Each severity is the minimum for its code. */
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
  /** An error once the webhook was turned off. */
  'webhook-failing': severities.warning,
  /** An error in the certificate's last week. */
  'certificate-expires': severities.warning,
  'log-unavailable': severities.warning,
} as const satisfies Readonly<Record<string, Severity>>

export type ProblemCode = keyof typeof problemCodes
const codes = Object.keys(problemCodes) as ProblemCode[]

/** An object named in a problem; `type` is its noun, as in `errorKey`. */
const concerned = { type: text, id, name: text } as const

/** The maximum length of a problem's `objects`; the message has the full count. */
export const maxConcernedAgents = 20

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
    description: `What it comes from, at most ${maxConcernedAgents} of them`,
  },
  remedy: { ...text, description: 'What mends it' },
} as const satisfies Fields

export const problem = { kind: 'object', fields: problemFields } as const

/** The problems field of an API object. */
export const problems = {
  kind: 'list',
  of: problem,
  computed: true,
  description: 'What is wrong with it, the worst first; empty when all is well',
} as const

export type Problem = Answer<typeof problemFields>
export type ConcernedObject = Problem['objects'][number]

/** The highest severity of these problems; 0: none. */
export function worstSeverity(found: readonly Pick<Problem, 'severity'>[]): Severity | 0 {
  return found.reduce<Severity | 0>(
    (worst, { severity }) => (severity > worst ? severity : worst),
    0,
  )
}

/** A problem together with its object. */
export const openProblem = {
  kind: 'object',
  fields: { object: { kind: 'object', fields: concerned }, ...problemFields },
} as const

/**
 * Problems that a group and its deployments share. The list of all problems has each once: for the deployment if several of its
 * groups have it, else for the group; `load-failed` is always listed for the group.
 */
export const sharedCodes = [
  'below-min',
  'no-agent-fits',
  'place-waiting',
  'load-failed',
] as const satisfies readonly ProblemCode[]

/** `illGroups`: how many groups of the deployment have the code. */
export function isListedByDeployment(code: string, illGroups: number): boolean {
  return illGroups > 1 && code !== 'load-failed'
}

export type OpenProblem = Answer<typeof openProblem.fields>

/** Objects with problems, and the permission type needed to read them. A stage has the id and name of its group. */
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
