/** Validates a given rollout policy and fills in the defaults (docs/behaviour.md, Rollouts). */
import { FleetError, type ErrorKey } from '../../errors.js'
import type {
  GateName,
  GateRule,
  GivenPolicy,
  RolloutPolicy,
  WaveRule,
} from '../../resources/rollout.js'
import { wildcardBase } from '../../resources/domain-name.js'

const defaultBakeSeconds = 60
const defaultForSeconds = 10
const defaultMinRequests = 100

/** The keys that each gate accepts, besides `for` and `minRequests`. */
const limitsOf: Readonly<Record<GateName, readonly (keyof GateRule)[]>> = {
  errors: ['max', 'factor'],
  hitRatio: ['drop'],
  backendFailures: ['max', 'factor'],
  firstByte: ['percentile', 'factor', 'maxMs'],
  backendsHealthy: ['min'],
  restarts: [],
  probe: ['path', 'host', 'status', 'bodyContains', 'every'],
  webhook: ['webhook'],
}
const forAll: readonly string[] = ['name', 'for', 'minRequests']
const usualGates: readonly GateRule[] = [
  { name: 'errors' },
  { name: 'backendFailures' },
  { name: 'restarts' },
]

interface PolicyOwner {
  readonly errorKey: ErrorKey
  /** The domain names of the group; none: it is a root group. */
  readonly fqdns: readonly string[]
}

/** Throws 'invalid', naming the key. */
export function completePolicy(given: GivenPolicy, owner: PolicyOwner): RolloutPolicy {
  const refuse = (what: string): FleetError =>
    new FleetError('invalid', owner.errorKey, `rollout.${what}`)
  const { bake = defaultBakeSeconds, gates = usualGates } = given
  const { maxBake = bake } = given
  if (maxBake < bake)
    throw refuse(`maxBake is ${maxBake}; it must be at least bake, which is ${bake}`)
  requireGrowing(given.waves, refuse)
  const named = gates.map((gate, at) =>
    completeGate(gate, owner, (what) => refuse(`gates[${at}]: ${what}`)),
  )
  return {
    waves: given.waves,
    bake,
    maxBake,
    gates: named.some(({ name }) => name === 'restarts')
      ? named
      : [...named, completeGate({ name: 'restarts' }, owner, refuse)],
    onFailure: given.onFailure ?? 'rollback',
    onInconclusive: given.onInconclusive ?? 'continue',
    banOnRollback: given.banOnRollback ?? false,
  }
}

function requireGrowing(waves: readonly WaveRule[], refuse: (what: string) => FleetError): void {
  const last = { count: 0, percent: 0 }
  for (const [at, wave] of waves.entries()) {
    const keys = Object.keys(wave)
    if (keys.length !== 1)
      throw refuse(
        `waves[${at}] has ${keys.length} keys; it must have exactly one of count, percent, tags and agents`,
      )
    for (const key of ['count', 'percent'] as const) {
      const total = wave[key]
      if (total === undefined) continue
      if (total <= last[key])
        throw refuse(
          `waves[${at}].${key} is ${total}; it is a total, so it must be more than ${last[key]}`,
        )
      last[key] = total
    }
  }
}

function completeGate(
  gate: GateRule,
  { fqdns }: PolicyOwner,
  refuse: (what: string) => FleetError,
): GateRule {
  const { name } = gate
  const right = limitsOf[name]
  const odd = Object.keys(gate).find(
    (key) => !forAll.includes(key) && !right.some((one) => one === key),
  )
  if (odd !== undefined)
    throw refuse(
      `${odd} does not apply to ${name}${right.length === 0 ? '' : `, which has ${right.join(', ')}`}`,
    )
  if (gate.max !== undefined && gate.factor !== undefined)
    throw refuse('max and factor are both given; give only one of them')
  if (gate.maxMs !== undefined && gate.factor !== undefined)
    throw refuse('maxMs and factor are both given; give only one of them')
  requireWithin(gate, refuse)
  const { for: forSeconds = defaultForSeconds, minRequests = defaultMinRequests } = gate
  const whole = { ...gate, for: forSeconds, minRequests }
  return { ...whole, ...fillLimits[name](gate, { fqdns, refuse }) }
}

interface Filling {
  readonly fqdns: readonly string[]
  readonly refuse: (what: string) => FleetError
}

const fillShare = ({ factor, max = 0.01 }: GateRule) => (factor === undefined ? { max } : {})

/** Defaults of the limits that a gate leaves out. */
const fillLimits: Readonly<
  Record<GateName, (gate: GateRule, filling: Filling) => Partial<GateRule>>
> = {
  errors: fillShare,
  backendFailures: fillShare,
  hitRatio: ({ drop = 0.1 }) => ({ drop }),
  firstByte: ({ percentile = 95, maxMs, factor = 2 }) => ({
    percentile,
    ...(maxMs === undefined && { factor }),
  }),
  backendsHealthy: ({ min = 1 }) => ({ min }),
  restarts: () => ({}),
  probe: completeProbe,
  webhook: requireWebhook,
}

const bounds = {
  max: [0, 1],
  factor: [1, 1000],
  drop: [0, 1],
  percentile: [1, 99.9],
  maxMs: [1, 600_000],
  min: [1, 1000],
} as const

function requireWithin(gate: GateRule, refuse: (what: string) => FleetError): void {
  for (const [key, [least, most]] of Object.entries(bounds)) {
    const value = gate[key as keyof typeof bounds]
    if (value !== undefined && !(value >= least && value <= most))
      throw refuse(`${key} is ${value}; it must be from ${least} to ${most}`)
  }
}

function completeProbe(
  { path, host, status = 200, every = 5 }: GateRule,
  { fqdns, refuse }: Filling,
) {
  if (path === undefined || !/^\/[\x21-\x7e]*$/.test(path))
    throw refuse('path must begin with a slash and be printable ASCII, such as /health')
  const chosen = host ?? fqdns.find((fqdn) => !fqdn.startsWith('*.'))
  if (chosen === undefined)
    throw refuse('host is missing; it must be a name that the group answers for')
  if (fqdns.length > 0 && !fqdns.some((fqdn) => answersFor(fqdn, chosen)))
    throw refuse(`host is ${JSON.stringify(chosen)}; it must be a name that the group answers for`)
  if (!/^[A-Za-z0-9.:[\]_-]{1,255}$/.test(chosen))
    throw refuse(`host is ${JSON.stringify(chosen)}, which is not a host`)
  return { path, host: chosen, status, every }
}

function requireWebhook({ webhook }: GateRule, { refuse }: Filling) {
  if (webhook === undefined) throw refuse('webhook is missing; give the webhook to ask as {id}')
  return { webhook }
}

function answersFor(fqdn: string, host: string): boolean {
  const name = host.toLowerCase()
  const base = wildcardBase(fqdn)
  return base === null ? name === fqdn : name.endsWith(`.${base}`)
}
