/** From installing packages on a fresh host to purging them, on one booted machine: the result of each step. */
import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.js'
import { answering } from '../support/observe-cache.js'
import {
  deploy,
  enroll,
  fetchSite,
  install,
  readPids,
  readUnit,
  site,
  startCoordinator,
  untilRunning,
  untilServing,
} from './fleet.js'
import { startMachine } from './machine.js'

const exposureLimit = 2
const machine = await startMachine(t)
const { must, run } = {
  must: (script: string) => machine.must(script),
  run: (script: string) => machine.run(script),
}

void t.test(
  'installing starts no unit, and needs neither Node, compiler nor network',
  async (t) => {
    t.not((await run('command -v node')).code, 0)
    t.match((await must('cat /proc/net/dev')).match(/^ *\w+:/gm)?.join(), /^ *lo:$/)
    await install(machine, 'lower')
    for (const unit of ['cachefleet-agent', 'cachefleet-coordinator']) {
      t.match(await run(`systemctl is-active ${unit}`), { code: 3, output: 'inactive' }, unit)
      t.match(await run(`systemctl is-enabled ${unit}`), { code: 1, output: 'disabled' }, unit)
    }
    t.match(await must('id cachefleet'), /\(varnish\)/)
    t.match(await must('id cachefleet-coordinator'), /^uid=\d+\(cachefleet-coordinator\)/)
    t.match(await must('stat -c "%a %U" /var/lib/cachefleet'), /^700 cachefleet$/m)
    t.match(await must('stat -c "%a %G" /etc/varnish/secret'), /^640 varnish$/m)
  },
)

void t.test('from a join token to a served site', async (t) => {
  await must(`cat > /etc/varnish/default.vcl <<'VCL'\n${answering('distribution')}VCL\n`)
  await must('systemctl restart varnish')
  await untilServing(machine, 'distribution')
  await startCoordinator(machine)
  const { cache } = await readPids(machine)
  await enroll(machine)
  await untilRunning(machine)
  t.equal(await fetchSite(machine), 'distribution', 'the old VCL serves until a deploy')
  await deploy(machine, 'first')
  t.equal(await fetchSite(machine), 'first')
  await deploy(machine, 'second')
  t.equal(await fetchSite(machine), 'second')
  t.equal((await readPids(machine)).cache, cache)
  t.match(await must('cachefleet vclgroups validate site'), 'the VCL compiles')
})

void t.test('the units are hardened, and the daemons are denied nothing they need', async (t) => {
  for (const unit of ['cachefleet-agent', 'cachefleet-coordinator']) {
    const output = await must(`systemd-analyze security --no-pager ${unit}.service`)
    const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(output)?.[1])
    t.ok(exposure <= exposureLimit, `${unit}: ${exposure}`)
  }
  const log = await must('journalctl --no-pager -o cat -u cachefleet-agent')
  t.match(log, /"depth":"read","ended":"done","msg":"compiled beside the cache"/)
  t.notMatch(log, 'no private manager answers', 'VCL is checked beside the cache, not in it')
})

/** Seconds: longer than between two pings of the daemons, 10 s. */
const watchdogSeconds = 15

void t.test('the watchdog does not end a healthy daemon', async (t) => {
  await Promise.all((['agent', 'coordinator'] as const).map((of) => checkWatchdog(t, of)))
  await untilRunning(machine)
})

async function checkWatchdog(t: Test, of: 'agent' | 'coordinator'): Promise<void> {
  const unit = `cachefleet-${of}`
  const folder = `/run/systemd/system/${unit}.service.d`
  await must(`mkdir -p ${folder}
    printf '[Service]\\nWatchdogSec=${watchdogSeconds}\\n' > ${folder}/soon.conf
    systemctl daemon-reload && systemctl restart ${unit}`)
  const readPing = async () => Number(await readUnit(machine, of, 'WatchdogTimestampMonotonic'))
  const [started, pid] = [await readPing(), (await readPids(machine))[of]]
  // Microseconds. Without a valid ping the watchdog would have ended it by then.
  await eventually(
    `${of} has pinged for longer than the watchdog waits`,
    async () => (await readPing()) - started > watchdogSeconds * 1e6,
  )
  t.equal((await readPids(machine))[of], pid, of)
  t.equal(await readUnit(machine, of, 'NRestarts'), '0', of)
  await must(`rm -r ${folder} && systemctl daemon-reload`)
}

void t.test('an upgrade restarts the daemons but not the cache', async (t) => {
  const before = await readPids(machine)
  await must('touch /run/ask')
  const asked = run(
    `while [ -e /run/ask ]; do curl -s -o /dev/null -w '%{http_code}\\n' ${site}; done`,
  )
  await install(machine, 'current')
  await untilRunning(machine)
  await must('rm /run/ask')
  t.same([...new Set((await asked).output.trim().split('\n'))], ['200'], 'no request failed')
  const after = await readPids(machine)
  t.equal(after.cache, before.cache)
  t.not(after.agent, before.agent)
  t.not(after.coordinator, before.coordinator)
  t.equal(await fetchSite(machine), 'second')
  const { output } = await run("dpkg-query -W -f '${Version}\\n' 'cachefleet*' | sort -u")
  t.notMatch(output, '0.0.1')
})

void t.test(
  'after a reboot of the host the cache serves, even without a coordinator',
  async (t) => {
    await must(`mkdir -p /etc/systemd/system/varnish.service.d
    cp /usr/share/doc/cachefleet-agent/examples/varnish.service.d/cachefleet.conf /etc/systemd/system/varnish.service.d/
    systemctl daemon-reload && systemctl disable cachefleet-coordinator`)
    await machine.stop()
    await machine.start()
    await untilServing(machine, 'second')
    t.match(await must('systemctl is-active cachefleet-agent'), /^active$/m)
    t.match(await run('systemctl is-active cachefleet-coordinator'), { output: /^inactive$/m })
    await must('systemctl enable --now cachefleet-coordinator')
    await untilRunning(machine)
    await deploy(machine, 'third')
    t.equal(await fetchSite(machine), 'third')
  },
)

void t.test(
  'a cache that cannot start with the boot file uses its distribution’s VCL',
  async (t) => {
    const bootFile = '/var/lib/cachefleet/boot.cli'
    // systemd limits restarts of a unit in a row, and these exceed the limit.
    const restart = 'systemctl reset-failed varnish && systemctl restart varnish'
    await must(`systemctl stop cachefleet-agent && cp -p ${bootFile} /root/kept`)
    await must(`echo 'vcl.inline site nonsense' > ${bootFile} && ${restart}`)
    await untilServing(machine, 'distribution')
    await must(`truncate -s 0 ${bootFile} && ${restart}`)
    await untilServing(machine, 'distribution')
    await must(`cat /root/kept > ${bootFile} && ${restart}`)
    await untilServing(machine, 'third')
    const { cache } = await readPids(machine)
    await must('systemctl kill -s KILL --kill-who=main varnish')
    await eventually('systemd restarted it', async () => {
      const pid = (await readPids(machine)).cache
      return pid !== '0' && pid !== cache
    })
    await untilServing(machine, 'third')
    await must(`echo nonsense > ${bootFile} && ${restart}`)
    await untilServing(machine, 'distribution')
    await must('systemctl start cachefleet-agent')
    await untilServing(machine, 'third')
    t.equal(await readUnit(machine, 'cache', 'Result'), 'success')
  },
)

void t.test('removing stops the daemons and keeps their data', async (t) => {
  await untilRunning(machine)
  const { cache } = await readPids(machine)
  await must('dpkg -r cachefleet-agent cachefleet-coordinator cachefleet cachefleet-common')
  t.equal((await readPids(machine)).cache, cache)
  t.equal(await fetchSite(machine), 'third')
  t.notMatch(await must('stat -c %U /proc/[0-9]* 2>/dev/null || :'), 'cachefleet')
  for (const path of ['/usr/bin/cachefleetd', '/usr/lib/cachefleet', '/usr/bin/cachefleet'])
    t.equal((await run(`[ -e ${path} ]`)).code, 1, path)
  for (const path of kept) t.equal((await run(`[ -s ${path} ]`)).code, 0, path)
  await install(machine, 'current')
  await must('systemctl enable --now cachefleet-coordinator cachefleet-agent')
  await untilRunning(machine)
})

const kept = [
  ...['/etc/cachefleet/agent.yaml', '/etc/cachefleet/coordinator.yaml'],
  ...['/var/lib/cachefleet/state.json', '/var/lib/cachefleet/boot.cli'],
  ...['/var/lib/cachefleet-coordinator/coordinator.db', '/var/lib/cachefleet-coordinator/ca.pem'],
]

void t.test('purging removes everything, and the cache keeps serving', async (t) => {
  await must('dpkg -P cachefleet-agent cachefleet-coordinator cachefleet cachefleet-common')
  for (const folder of [
    '/etc/cachefleet',
    '/var/lib/cachefleet',
    '/var/lib/cachefleet-coordinator',
  ])
    t.equal((await run(`[ -e ${folder} ]`)).code, 1, folder)
  t.equal(await fetchSite(machine), 'third')
  await must('systemctl restart varnish')
  await untilServing(machine, 'distribution')
  t.equal((await must('dpkg --audit')).trim(), '')
  const units = await must("systemctl list-units --all --no-legend 'cachefleet*'")
  t.notMatch(units, /running|failed/)
})
