/**
 * Gates that ask a webhook: when a wave has switched, then every 10 s until its bake ends. A check sends the due requests and waits
 * for none of them. Responses are kept in memory only, so a coordinator that takes over the rollout asks again.
 */
import { setMaxListeners } from 'node:events'
import type { Logger } from 'pino'
import { findFairRoom } from '../../resources/quota.js'
import { rolloutStates } from '../../resources/rollout.js'
import type { RolloutRecord } from '../fleet/rollout-queries.js'
import type { WebhookAnswer } from './judge-gates.js'

export interface WebhookQuestion {
  readonly webhookId: number
  readonly rollout: RolloutRecord
}

/** Rejects when the signal fires, or on a defect of the coordinator. */
export type AskWebhook = (question: WebhookQuestion, signal: AbortSignal) => Promise<WebhookAnswer>

export interface WebhookGates {
  /** Sends the due requests for these rollouts, and forgets all other rollouts. */
  ask(rollouts: readonly RolloutRecord[]): void
  /** Returns the newest responses of this bake, by the place of the gate. */
  read(rollout: RolloutRecord): readonly (WebhookAnswer | null)[]
  close(): Promise<void>
}

const askEveryMs = 10_000
/** Concurrent connections, each open for at most 10 s. */
const maxConcurrent = 100

interface Asked {
  /** Each bake has its own epoch. */
  readonly epoch: number
  readonly gates: readonly AskedGate[]
}

interface AskedGate {
  dueAtMs: number
  isUnderWay: boolean
  answer: WebhookAnswer | null
}

export function createWebhookGates(askWebhook: AskWebhook, log: Logger): WebhookGates {
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal) // one listener per request
  const asked = new Map<number, Asked>()
  /** The organization that owns each request. */
  const underWay = new Map<Promise<void>, number | null>()

  return {
    ask: (rollouts) => {
      const baking = rollouts.filter(isAsking)
      const ids = new Set(baking.map(({ id }) => id))
      for (const id of asked.keys()) if (!ids.has(id)) asked.delete(id)
      for (const rollout of baking) askDue(rollout)
    },
    read: ({ id, epoch }) => {
      const known = asked.get(id)
      return known?.epoch === epoch ? known.gates.map(({ answer }) => answer) : []
    },
    close: async () => {
      stopping.abort()
      await Promise.all(underWay.keys())
      asked.clear()
    },
  }

  function askDue(rollout: RolloutRecord): void {
    const { id, epoch, policy, organizationId } = rollout
    const known = asked.get(id)
    const gates = known?.epoch === epoch ? known.gates : policy.gates.map(startGate)
    asked.set(id, { epoch, gates })
    const nowMs = performance.now()
    for (const [at, { webhook }] of policy.gates.entries()) {
      const gate = gates[at]
      if (!webhook || !gate || gate.isUnderWay || nowMs < gate.dueAtMs) continue
      // Gates without room are asked at a later check.
      if (!hasRoom(organizationId)) return
      gate.isUnderWay = true
      gate.dueAtMs = nowMs + askEveryMs
      const work: Promise<void> = askOne(gate, { webhookId: webhook.id, rollout }).finally(() =>
        underWay.delete(work),
      )
      underWay.set(work, organizationId)
    }
  }

  function hasRoom(organizationId: number | null): boolean {
    const held = [...underWay.values()].filter((owner) => owner === organizationId).length
    return findFairRoom({ total: maxConcurrent, used: underWay.size, held }) > 0
  }

  /** Never rejects. */
  async function askOne(gate: AskedGate, question: WebhookQuestion): Promise<void> {
    try {
      gate.answer = await askWebhook(question, stopping.signal)
    } catch (error) {
      gate.answer = {
        verdict: 'inconclusive',
        reason: 'the request to the webhook could not be sent',
      }
      if (!stopping.signal.aborted)
        log.error(
          { err: error, rollout: question.rollout.id },
          'the request to a webhook cannot be sent',
        )
    } finally {
      gate.isUnderWay = false
    }
  }
}

function isAsking({ state, policy }: RolloutRecord): boolean {
  return state === rolloutStates.Baking && policy.gates.some(({ webhook }) => webhook !== undefined)
}

function startGate(): AskedGate {
  return { dueAtMs: 0, isUnderWay: false, answer: null }
}
