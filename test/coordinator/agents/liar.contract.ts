/** Text that no database can store does not block other agents in the same write. Run for each database. */
import type { Test } from 'tap'
import { findAgent } from '../../../src/coordinator/fleet/agent-queries.js'
import { eventually } from '../../support/eventually.js'
import {
  describe,
  link,
  runningCondition,
  startGateway,
  type LinkAgent,
} from '../gateway/link-agent.js'
import { makeToken, type TestService } from '../gateway/service.js'
import { all } from './hints.js'

const nul = 'before\0behind'

export async function liarContract(
  t: Test,
  start: (t: Test) => Promise<TestService>,
): Promise<void> {
  const service = await start(t)
  const { host } = await startGateway(t, service)
  const token = await makeToken(service)
  const enrol = (name: string) => {
    const key = `key-of-${name}-0123456789abcdef`
    const engine = { host: name, port: 6081, version: nul, workingDirectory: nul }
    return link(host, describe(name, key, { engine, hostName: nul }), { token, key })
  }
  const liar = await enrol('liar')
  const honest = await enrol('honest')

  reportAll(liar, nul)
  reportAll(honest, 'right')

  const readError = async ({ agentId }: { readonly agentId: number }) => {
    const agent = await findAgent(service.store.queries, all, agentId)
    return `${agent?.engineError ?? ''} ${agent?.attempted?.error ?? ''}`
  }
  await eventually(
    'the report of the honest agent is stored',
    async () => (await readError(honest)) === 'right right',
  )
  const told = 'before\ufffdbehind'
  await eventually('the NUL is replaced', async () => (await readError(liar)) === `${told} ${told}`)
  t.same(service.warnings, [])
  t.equal(liar.closed(), null)
}

/** Sends the text in each field that is stored as text. */
function reportAll(agent: LinkAgent, text: string): void {
  const report = { instruction: 1, revision: 1, loaded: [text], changed: true, serving: [text] }
  const failures = [{ program: text, error: text }]
  agent.say({ kind: 'heartbeat', condition: { ...runningCondition, engineError: text } })
  agent.say({ kind: 'applyReport', result: 'failed', error: text, failures, ...report })
  agent.say({
    kind: 'drift',
    drift: { at: text, foreign: [text], action: text, healedAt: text },
  })
  agent.say({
    kind: 'invalidated',
    results: [{ position: 1, result: 'done', error: text }],
    trouble: null,
  })
}
