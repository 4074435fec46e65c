/** watchAgents polls when as many agents have reported as were missing, and rarely before. */
import t from 'tap'
import { agentChangedSubject } from '../../../src/coordinator/bus/subjects.js'
import { watchAgents } from '../../../src/coordinator/agents/watch-agents.js'
import { eventually } from '../../support/eventually.js'
import { startService } from '../gateway/service.js'

const forEver = Number.MAX_SAFE_INTEGER
/** The poll interval while fewer agents have reported than are missing. */
const seldomMs = 200

void t.test('reports of a thousand agents cause few polls', async (t) => {
  const service = await startService(t)
  const missing = new Set(Array.from({ length: 1_000 }, (_, n) => n + 1))
  const startedAtMs = performance.now()
  let polls = 0
  const watching = watchAgents(
    service,
    () => {
      polls += 1
      return Promise.resolve(missing.size === 0 ? 'all' : undefined)
    },
    forEver,
    { countMissing: () => missing.size },
  )
  for (const agentId of [...missing]) {
    missing.delete(agentId)
    service.bus.publish(agentChangedSubject, { agentIds: [agentId] })
    if (agentId % 10 === 0) await new Promise((resume) => setTimeout(resume, 1))
  }
  t.equal(await watching, 'all')
  const seldom = Math.ceil((performance.now() - startedAtMs) / seldomMs)
  t.ok(polls <= seldom + 2, `${polls} polls, one each ${seldomMs} ms makes ${seldom}`)
})

void t.test('an agent that reports repeatedly counts once', async (t) => {
  const service = await startService(t)
  const startedAtMs = performance.now()
  let polls = 0
  const watching = watchAgents(
    service,
    () => Promise.resolve(++polls > 3 ? 'enough' : undefined),
    forEver,
    { countMissing: () => 2 },
  )
  const timer = setInterval(() => {
    service.bus.publish(agentChangedSubject, { agentIds: [7] })
  }, 1)
  t.teardown(() => {
    clearInterval(timer)
  })
  t.equal(await watching, 'enough')
  t.ok(performance.now() - startedAtMs >= 3 * seldomMs, 'each poll after the first waits')
})

void t.test(
  'watchAgents polls without hints as well, and ends when the coordinator stops',
  async (t) => {
    const service = await startService(t)
    let polls = 0
    const watching = watchAgents(
      service,
      () => {
        polls += 1
        return Promise.resolve<string | undefined>(undefined)
      },
      forEver,
    )
    await eventually('it has polled', () => polls > 2)
    await service.background.stop()
    t.equal(await watching, undefined)
  },
)
