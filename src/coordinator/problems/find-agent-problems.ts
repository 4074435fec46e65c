/** The problems of an agent and its cache. Pure: from its row alone. */
import { agentStates, catchingUp } from '../../resources/agent-state.js'
import type { AgentRecord } from '../fleet/agent-queries.js'
import { quoteText, type Finding } from './make-problem.js'

export type JudgedAgent = Pick<
  AgentRecord,
  | 'name'
  | 'state'
  | 'engineState'
  | 'engineError'
  | 'lockedBecause'
  | 'lastStateChangeAt'
  | 'drift'
  | 'logTrouble'
  | 'draining'
>

const maxDriftNames = 5

/** `whole`: false for an organization that only shares the agent and cannot repair it. */
export function findAgentProblems(agent: JudgedAgent, whole: boolean): Finding[] {
  const found = [
    ...findByState(agent),
    ...findDrain(agent),
    ...(whole ? [...findDrift(agent), ...findLogTrouble(agent)] : []),
  ]
  return whole ? found : found.map((finding) => ({ ...finding, remedy: remedyOfOwner }))
}

const remedyOfOwner = 'The cache is shared: ask the system administrator'

function findByState(agent: JudgedAgent): Finding[] {
  const { state, engineError } = agent
  if (state === agentStates.Down) return [toDown(agent)]
  if (state === agentStates.Locked) return [toLocked(agent)]
  if (state !== agentStates.Failing) return []
  return [engineError === catchingUp ? toBehind(agent) : toFailing(agent)]
}

function toDown({ lastStateChangeAt }: JudgedAgent): Finding {
  return {
    code: 'agent-down',
    message: 'The agent does not answer; what its cache serves is not known',
    sinceMs: lastStateChangeAt,
    remedy:
      'On its host: `cachefleetd doctor` says what is wrong, `systemctl restart cachefleet-agent` starts the agent. A host that is gone: `agents delete`',
  }
}

function toLocked({ name, lockedBecause, lastStateChangeAt }: JudgedAgent): Finding {
  return {
    code: 'agent-locked',
    message: `The agent takes no orders: ${quoteText(lockedBecause ?? 'it is locked')}`,
    sinceMs: lastStateChangeAt,
    remedy: `\`agents unlock ${name} --plan\` shows what an unlock would change, without --plan it unlocks`,
  }
}

function toBehind({ lastStateChangeAt }: JudgedAgent): Finding {
  return {
    code: 'behind-on-invalidations',
    message:
      'The cache missed invalidations and catches up; it may serve what was to be removed from it',
    sinceMs: lastStateChangeAt,
    remedy:
      'It ends by itself. `invalidations list --filter stateName=Running,Retrying` shows what is not done, `invalidations cancel` drops one',
  }
}

function toFailing({ name, engineState, engineError, lastStateChangeAt }: JudgedAgent): Finding {
  const reason = engineError === null ? '' : `: ${quoteText(engineError)}`
  const condition = {
    running: 'The cache does not work',
    stopped: 'The child process of the cache does not run',
    unreachable: "The agent does not reach the cache's management port",
    unknown: 'The agent cannot tell what the cache does',
  }[engineState]
  return {
    code: 'cache-failing',
    message: `${condition}${reason}`,
    sinceMs: lastStateChangeAt,
    remedy: `\`agents panic ${name}\` and the log on its host say why; restart the cache there, and the agent restores what it should hold`,
  }
}

function findDrain({ name, draining }: JudgedAgent): Finding[] {
  if (draining === null) return []
  const { reason, until, since } = draining
  const end = until === null ? '' : ` until ${new Date(until).toISOString()}`
  return [
    {
      code: 'draining',
      message: `The cache is drained${end}, its groups move to others: ${quoteText(reason)}`,
      sinceMs: since,
      remedy: `\`agents undrain ${name}\` when its host is ready`,
    },
  ]
}

/** The last external change, as long as the agent could not undo it. */
function findDrift({ drift, lastStateChangeAt }: JudgedAgent): Finding[] {
  if (drift === null || drift.healedAt !== null) return []
  const { foreign, action, at } = drift
  const atMs = Date.parse(at)
  const names = foreign.slice(0, maxDriftNames).join(', ')
  const what = names === '' ? 'what it serves' : quoteText(names)
  return [
    {
      code: 'drift',
      message: `Somebody else changed the cache (${what})${action === '' ? '' : `: ${quoteText(action)}`}`,
      // The agent wrote this time, by its own clock.
      sinceMs: Number.isNaN(atMs) ? lastStateChangeAt : atMs,
      remedy:
        'Its agent tries again by itself: mend on the host what stops it, and end what else changes the cache',
    },
  ]
}

/** Only for a working cache: any other problem would explain it. */
function findLogTrouble({ state, logTrouble, lastStateChangeAt }: JudgedAgent): Finding[] {
  const { Running, ReadOnly } = agentStates
  if (logTrouble === null || (state !== Running && state !== ReadOnly)) return []
  return [
    {
      code: 'log-unavailable',
      message: `The agent cannot read the log of its cache: ${quoteText(logTrouble)}`,
      sinceMs: lastStateChangeAt,
      remedy:
        'On its host: install the log tool of the cache (varnishncsa, vinylncsa), or put the user of the agent into the group of the cache; `cachefleetd doctor` says which is missing',
    },
  ]
}
