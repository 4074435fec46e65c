/** Agents one minor version older and newer: the features known to both work, the rest is ignored (docs/behaviour.md, Versions). */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findAgent } from '../../../src/coordinator/fleet/agent-queries.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { findSkew, isNewerMinor } from '../../../src/resources/version-skew.js'
import { eventually } from '../../support/eventually.js'
import { root } from '../../support/root.js'
import { dial, linkHeaders, startGateway } from './link-agent.js'
import { makeToken, startService } from './service.js'

const service = await startService(t)
const { host } = await startGateway(t, service)

for (const [version, name, known] of [
  ['0.1.0', 'agent-010', ['report', 'deploy', 'command']],
  ['0.3.0', 'agent-030', ['report', 'deploy', 'command', 'invalidate']],
] as const)
  await t.test(`an agent of ${version} takes its desired state and is Running`, async (t) => {
    const file = join(root, `test/fixtures/hellos/${version}.jsonl`)
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    const [hello = '', report = '', ...rest] = lines
    const agent = await dial(host, linkHeaders.join(await makeToken(service), name))

    agent.sendText(hello)
    const { agentId } = await agent.next('welcome')
    const apply = await agent.next('apply')
    agent.sendText(report.replace('"instruction":1', `"instruction":${apply.sequence}`))
    for (const line of rest) agent.sendText(line)

    const row = await eventually('the report and a heartbeat are in the row', async () => {
      const seen = await findAgent(service.store.queries, { kind: 'all' }, agentId)
      if (seen?.attempted && seen.effectiveRevision === 1) return seen
      throw new Error(JSON.stringify([seen, agent.closed(), agent.received]))
    })
    t.match(row, {
      name,
      agentVersion: version,
      state: agentStates.Running,
      engineVersion: '7.1.1',
      attempted: { revision: 1, result: 'applied' },
    })
    t.same(row.capabilities, known)
    t.equal(agent.closed(), null)
  })

void t.test('one minor version apart is no skew, a larger difference is', (t) => {
  const rows: readonly (readonly [string, string, boolean, boolean])[] = [
    ['0.2.0', '0.2.9', true, false],
    ['0.2.0', '0.1.0', true, false],
    ['0.2.0', '0.3.1', true, true],
    ['0.2.0', '0.4.0', false, true],
    ['0.2.0', '1.2.0', false, false],
    ['1.0.0', '0.9.0', false, false],
  ]
  for (const [ours, theirs, fits, isNewer] of rows) {
    t.equal(findSkew(ours, theirs) === null, fits, `${ours} and ${theirs}`)
    t.equal(isNewerMinor(ours, theirs), isNewer, `${ours} and ${theirs}`)
  }
  t.end()
})
