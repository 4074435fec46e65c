/** A gateway with linked agents, and helpers that change their desired states and ask them questions. */
import type { Test } from 'tap'
import { createContext } from '../../../src/context.js'
import { notifyDesiredChanged } from '../../../src/coordinator/agents/agent-hints.js'
import { instructAgent } from '../../../src/coordinator/agents/instruct.js'
import { findAgent } from '../../../src/coordinator/fleet/agent-queries.js'
import { describe, link, startGateway, type LinkAgent } from './link-agent.js'
import { makeToken, startService } from './service.js'

const all = { kind: 'all' } as const

export type Links = Awaited<ReturnType<typeof startLinks>>

export async function startLinks(t: Test) {
  const service = await startService(t)
  const { host } = await startGateway(t, service)
  const token = await makeToken(service)
  let count = 0

  async function enrol(changes: Parameters<typeof describe>[2] = {}) {
    const name = `agent-${++count}`
    const key = `key-of-${name}-0123456789abcdef`
    const description = describe(name, key, changes)
    return { ...(await link(host, description, { token, key })), name, key, description }
  }

  const rowOf = (agentId: number) => findAgent(service.store.queries, all, agentId)

  /** Writes a new desired state, as a deploy does. */
  async function desire(agentIds: readonly number[], traceId = 'trace-of-the-deploy') {
    await service.store.queries
      .updateTable('agents')
      .set((e) => ({
        desiredRevision: e('desiredRevision', '+', 1),
        desired: JSON.stringify({
          load: [{ name: 'cf-1-aaaaaaaa-1', sha: 'a'.repeat(64) }],
          labels: [],
          active: 'cf-1-aaaaaaaa-1',
        }),
      }))
      .where('id', 'in', [...agentIds])
      .execute()
    notifyDesiredChanged(service, agentIds, traceId)
  }

  /** Resolves when the coordinator has processed all earlier messages of the agent. */
  async function settle(agent: LinkAgent & { readonly agentId: number }): Promise<void> {
    const asked = instructAgent(service, createContext(service.log), {
      agentId: agent.agentId,
      question: { kind: 'query', query: 'vcls' },
      timeoutMs: 20_000,
    })
    const { sequence } = await agent.next('query')
    agent.say({
      kind: 'answer',
      instruction: sequence,
      result: 'done',
      value: [],
      sentByPut: false,
      error: null,
    })
    await asked
  }

  function ask(
    agent: { readonly agentId: number },
    question: Parameters<typeof instructAgent>[2]['question'],
    timeoutMs = 20_000,
  ): Promise<unknown> {
    const context = createContext(service.log, 'trace-of-a-question')
    return instructAgent(service, context, { agentId: agent.agentId, question, timeoutMs })
  }

  return { service, host, token, enrol, rowOf, desire, settle, ask }
}

export function answerTo(instruction: number) {
  const value: unknown = null
  return {
    kind: 'answer',
    instruction,
    result: 'done',
    value,
    sentByPut: false,
    error: null,
  } as const
}
