/** The problems of a certificate. Pure: from its state, its places and its expiry. */
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import { deploymentStates } from '../../resources/deployment.js'
import { severities } from '../../resources/problem.js'
import type { DeploymentState } from '../fleet/deployment.js'
import type { NamedReference } from '../store/owner.js'
import { countCaches, quoteText, toConcerned, type Finding } from './make-problem.js'

interface JudgedCertificate {
  readonly name: string
  readonly notAfter: number
  /** Why the last deploy failed; null: it did not fail. */
  readonly deployError: string | null
  readonly state: DeploymentState
  /** The places that should serve it. */
  readonly places: readonly CertificatePlaceFacts[]
}

interface CertificatePlaceFacts {
  readonly agent: NamedReference & { readonly state: AgentState }
  readonly hasFailed: boolean
  readonly error: string | null
}

const dayMs = 24 * 3600 * 1000
/** docs/behaviour.md, Problems. */
const warnedMs = 21 * dayMs
const urgentMs = 7 * dayMs

const { Degraded, Error, Orphan } = deploymentStates

export function findCertificateProblems(judged: JudgedCertificate, nowMs: number): Finding[] {
  return [...findByState(judged), ...findExpiry(judged, nowMs)]
}

function findByState({ name, state, places, deployError }: JudgedCertificate): Finding[] {
  const refused = places.filter(({ hasFailed }) => hasFailed)
  const isIll = state === Degraded || state === Error
  return [
    ...(state === Orphan ? [noAgentFits] : []),
    ...(state === Error ? [toServedNowhere(places)] : []),
    ...(deployError !== null || (isIll && refused.length > 0)
      ? [toRefused({ name, refused, deployError })]
      : []),
    ...(isIll ? findWaiting(places) : []),
  ]
}

const noAgentFits: Finding = {
  code: 'no-agent-fits',
  message: 'It is to be deployed, and no cache with a TLS listener fits',
  sinceMs: null,
  remedy: 'Give caches with a TLS listener all tags of one of its deployments',
}

function toServedNowhere(places: JudgedCertificate['places']): Finding {
  return {
    code: 'below-min',
    message: `None of its ${countCaches(places.length)} serves it`,
    sinceMs: null,
    objects: nameAgents(places),
    remedy: 'Bring its caches back, or give others the tags of its deployments',
  }
}

function toRefused({
  name,
  refused,
  deployError,
}: Pick<JudgedCertificate, 'name' | 'deployError'> & {
  readonly refused: JudgedCertificate['places']
}): Finding {
  const error = deployError ?? refused.find((place) => place.error !== null)?.error ?? null
  const what =
    deployError === null
      ? `${countCaches(refused.length)} refused it`
      : 'The last deploy failed, and nothing changed'
  return {
    code: 'load-failed',
    message: error === null ? what : `${what}: ${quoteText(error)}`,
    sinceMs: null,
    objects: nameAgents(refused),
    remedy: `Renew it with a chain and a key that the caches take and deploy it, or \`certificates rollback ${name}\``,
  }
}

/** Places on agents that are not Running, whose state is unknown. */
function findWaiting(places: JudgedCertificate['places']): Finding[] {
  const waiting = places.filter(
    ({ agent, hasFailed }) => !hasFailed && agent.state !== agentStates.Running,
  )
  if (waiting.length === 0) return []
  return [
    {
      code: 'place-waiting',
      message: `Waiting for ${countCaches(waiting.length)} that cannot be reached now`,
      sinceMs: null,
      objects: nameAgents(waiting),
      remedy:
        'Mend these caches; they get it when they are back. A host that is gone: `agents delete`',
    },
  ]
}

function findExpiry({ name, notAfter }: JudgedCertificate, nowMs: number): Finding[] {
  const leftMs = notAfter - nowMs
  if (leftMs > warnedMs) return []
  const at = new Date(notAfter).toISOString()
  return [
    {
      code: 'certificate-expires',
      severity: leftMs > urgentMs ? severities.warning : severities.error,
      message: leftMs > 0 ? `It expires at ${at}` : `It expired at ${at}`,
      sinceMs: notAfter - warnedMs,
      remedy: `\`certificates renew ${name} --chain FILE --key FILE\` puts a new one on its caches`,
    },
  ]
}

function nameAgents(places: JudgedCertificate['places']) {
  return places.map(({ agent: { id, name } }) => toConcerned('agent', { id, name }))
}
