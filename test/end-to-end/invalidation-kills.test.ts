/**
 * A thousand bans while agent, coordinator, connection, the cache's child and its manager are killed in turn: the cache gets
 * every one of them in order. What it may miss is what was made before it started empty.
 */
import t, { type Test } from 'tap'
import type { ApiAnswer } from '../support/api-client.js'
import { eventually } from '../support/eventually.js'
import { startStand, untilAgent, type Stand } from './stand.js'

const entries = 1000
/** After so many acknowledged entries. */
const strikes: readonly (readonly [number, Victim])[] = [
  ...([
    [100, 'agent'],
    [220, 'coordinator'],
    [340, 'connection'],
    [460, 'child'],
  ] as const),
  ...([
    [580, 'manager'],
    [700, 'agent'],
    [800, 'coordinator'],
    [900, 'connection'],
  ] as const),
]
type Victim = 'agent' | 'coordinator' | 'connection' | 'child' | 'manager'
const windowEntries = 64

void t.test('no ban is skipped or overtaken, whoever dies', async (t) => {
  const stand = await startStand(t, { heartbeatSeconds: 1 })
  await untilAgent(stand, 'Running')
  stand.port.forget()
  const killed: Victim[] = []
  let striking = Promise.resolve()
  const acknowledged: number[] = []
  for (let number = 1; number <= entries; number++) {
    acknowledged.push(await logBan(stand, number))
    const [, victim] = strikes.find(([after]) => after === number) ?? []
    if (!victim) continue
    killed.push(victim)
    striking = striking.then(() => strike(stand, victim))
  }
  await striking

  const last = acknowledged.at(-1) ?? 0
  await eventually('the last one has ended', async () => {
    const { text } = await stand.api.call('GET', `/invalidations/${last}`)
    return text.includes('"Completed"')
  })
  await untilAgent(stand, 'Running')
  const list = await stand.api.call('GET', '/invalidations?stateName=Completed')
  const completed = new Set((JSON.parse(list.text) as { id: number }[]).map(({ id }) => id))
  t.same(
    acknowledged.filter((id) => !completed.has(id)),
    [],
    'all that was acknowledged is done',
  )
  checkOrder(t, stand, killed.length)
})

function checkOrder(t: Test, stand: Stand, kills: number): void {
  const seen = stand.port.commands.flatMap((line) => /x-number == (\d+)/.exec(line)?.[1] ?? [])
  let newest = 0
  let gaps = 0
  let back = 0
  let repeats = 0
  for (const number of seen.map(Number)) {
    if (number > newest + 1) gaps += 1
    if (number <= newest) repeats += 1
    back = Math.max(back, newest - number)
    newest = Math.max(newest, number)
  }
  t.equal(newest, entries)
  t.ok(
    gaps <= 2,
    `${gaps} gaps: only a cache that started empty, of which there are two, may miss some`,
  )
  t.ok(back < windowEntries, `${back} steps back: no more than a window is repeated`)
  t.ok(repeats <= 2 * kills * windowEntries, `${repeats} repeats`)
}

/** Until it is acknowledged; answers its id. */
async function logBan({ api }: Stand, number: number): Promise<number> {
  const body = {
    type: 'ban',
    expression: `obj.http.x-number == ${number}`,
    target: { all: true },
  }
  const answer = await eventually(`ban ${number} is acknowledged`, async () => {
    const given: ApiAnswer | null = await api.call('POST', '/invalidations', body).catch(() => null)
    return given?.status === 202 ? given : undefined
  })
  return (JSON.parse(answer.text) as { id: number }).id // the API's own view
}

async function strike(stand: Stand, victim: Victim): Promise<void> {
  const { cache, coordinator, port } = stand
  switch (victim) {
    case 'agent':
      await stand.agent.kill()
      stand.startAgent()
      return
    case 'coordinator':
      await coordinator.daemon.kill()
      await coordinator.start()
      return
    case 'connection':
      port.setFault('close')
      port.setFault('none')
      return
    case 'child': {
      const pid = await cache.childPid()
      if (pid !== null) process.kill(pid, 'SIGKILL')
      return
    }
    case 'manager':
      await cache.stop('SIGKILL')
      await cache.restart()
  }
}
