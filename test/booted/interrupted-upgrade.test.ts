/** An upgrade killed after each step that dpkg reports: the operator's next commands repair it, and the cache serves throughout. */
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
/** Kills dpkg and everything it started after this many reports. */
const killer = `output=0
while read -r line; do
  output=$((output + 1))
  echo "$line" >> /root/output
  [ "$output" -lt "$1" ] || kill -KILL 0
done
`
/** Of a shell: 128 and the signal's number. */
const killedCode = 137
const upgrade = (killAfter: number): string =>
  `rm -f /root/output; setsid --wait dpkg --status-logger='sh /root/killer ${killAfter}' -i /root/current/*.deb`

await install(machine, 'lower')
await startCoordinator(machine)
await enroll(machine)
await deploy(machine, 'kept')
await machine.must(`cat > /root/killer <<'SH'\n${killer}SH\n`)

void t.test('an upgrade killed after any of its steps can be repaired', async (t) => {
  const { cache } = await readPids(machine)
  await machine.must(upgrade(1_000))
  const steps = (await machine.must('cat /root/output')).trim().split('\n')
  let killed = 0
  for (const [index, step] of steps.entries()) {
    if (!step.startsWith('status:')) continue
    await install(machine, 'lower')
    const { code } = await machine.run(upgrade(index + 1))
    // After its last report dpkg may end before it is killed.
    if (code === killedCode) killed += 1
    else t.equal(code, 0, step)
    // It reports half-installed packages and leaves them; it completes the others.
    await machine.run('dpkg --configure -a')
    t.equal(await fetchSite(machine), 'kept', `killed after ${step}`)
    await install(machine, 'current')
    t.equal((await machine.must('dpkg --audit')).trim(), '')
    await eventually('the agent is started again', async () => {
      const { output } = await machine.run('systemctl is-active cachefleet-agent')
      return output === 'active\n'
    })
    t.equal(await fetchSite(machine), 'kept')
  }
  t.ok(killed > 10, `${killed} were killed`)
  await untilRunning(machine)
  t.equal((await readPids(machine)).cache, cache, 'the cache was not restarted')
  await deploy(machine, 'afterwards')
  t.equal(await fetchSite(machine), 'afterwards')
})
