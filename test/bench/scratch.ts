import { setTimeout as pause } from 'node:timers/promises'
import { startCoordinator } from '../support/daemon.js'
import { startFleet, untilAllHold, untilAllRun } from './fleet-stand.js'
const ends: (() => Promise<void>)[] = []
const t = { teardown: (f: () => Promise<void>) => void ends.push(f) }
const agents = Number(process.argv[2] ?? 1000)
try {
  const { api, base, daemon } = await startCoordinator(t, {environment: process.env.PROF ? {NODE_OPTIONS: '--cpu-prof --cpu-prof-dir=/tmp/prof'} : {}})
  const joinToken = await api.makeJoinToken(agents + 1)
  const fleet = await startFleet(t, { size: agents, joinToken, bases: [base], name: 'fleet' })
  await untilAllRun(api, fleet, { size: agents })
  await untilAllHold(api, fleet)
  const took: number[] = [], health: number[] = []
  for (let n = 0; n < 40; n++) {
    await pause(300)
    let at = performance.now()
    await (await fetch(`${base}/healthz`)).text()
    health.push(performance.now() - at)
    await pause(300)
    at = performance.now()
    const { text } = await api.call('POST', '/invalidations', { type: 'ban', expression: `obj.http.x == ${n}`, target: { all: true } })
    const all = performance.now() - at
    took.push(all)
    if (n % 5 === 0) console.log(all.toFixed(1), text.length)
    await pause(300)
  }
  const q = (a: number[], s: number) => a.toSorted((x, y) => x - y)[Math.min(a.length - 1, Math.floor(a.length * s))]!.toFixed(1)
  console.log('202', q(took, 0.5), q(took, 0.9), q(took, 0.99), 'health', q(health, 0.5), q(health, 0.99))
  console.log(daemon.errors().split('\n').filter((l) => l.startsWith('STAGES')).slice(-15).join('\n'))
  await daemon.stop()
} finally { for (const e of ends.reverse()) await e() }
process.exit(0)
