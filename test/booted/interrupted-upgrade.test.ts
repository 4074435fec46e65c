/** An upgrade that is killed, after each thing that dpkg says it did: what is mended by what an operator types next, and that the cache serves. */
import t from 'tap'
import { eventually } from '../support/eventually.js'
import {
  deploy,
  enroll,
  fetchSite,
  install,
  readPids,
  startCoordinator,
  untilRunning,
} from './fleet.js'
import { startMachine } from './machine.js'

const machine = await startMachine(t)
/** Kills all that dpkg started and dpkg itself, when it has said so much. */
const killer = `said=0
while read -r line; do
  said=$((said + 1))
  echo "$line" >> /root/said
  [ "$said" -lt "$1" ] || kill -KILL 0
done
`
/** Of a shell: 128 and the signal's number. */
const killedCode = 137
const upgrade = (killAfter: number): string =>
  `rm -f /root/said; setsid --wait dpkg --status-logger='sh /root/killer ${killAfter}' -i /root/current/*.deb`

await install(machine, 'lower')
await startCoordinator(machine)
await enroll(machine)
await deploy(machine, 'kept')
await machine.must(`cat > /root/killer <<'SH'\n${killer}SH\n`)

void t.test('killed after each of its steps, an upgrade is mended', async (t) => {
  const { cache } = await readPids(machine)
  await machine.must(upgrade(1_000))
  const steps = (await machine.must('cat /root/said')).trim().split('\n')
  let killed = 0
  for (const [index, step] of steps.entries()) {
    if (!step.startsWith('status:')) continue
    await install(machine, 'lower')
    const { code } = await machine.run(upgrade(index + 1))
    // After its last words dpkg may be quicker than who kills it.
    if (code === killedCode) killed += 1
    else t.equal(code, 0, step)
    // What is half installed it names and leaves; the rest it completes.
    await machine.run('dpkg --configure -a')
    t.equal(await fetchSite(machine), 'kept', `killed after ${step}`)
    await install(machine, 'current')
    t.equal((await machine.must('dpkg --audit')).trim(), '')
    await eventually('the agent is started again', async () => {
      const { said } = await machine.run('systemctl is-active cachefleet-agent')
      return said === 'active\n'
    })
    t.equal(await fetchSite(machine), 'kept')
  }
  t.ok(killed > 10, `${killed} were killed`)
  await untilRunning(machine)
  t.equal((await readPids(machine)).cache, cache, 'the cache was not touched')
  await deploy(machine, 'afterwards')
  t.equal(await fetchSite(machine), 'afterwards')
})
