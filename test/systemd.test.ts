/** The systemd units: checked by systemd itself if it is installed, or else by their contents. */
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { products } from '../protocol/product.js'
import { hasQuirk } from '../protocol/quirks.js'
import { chooseProtectable } from '../src/agent/apply/protectable.js'
import { root } from './support/root.js'
import { startVarnishd } from './support/varnishd.js'

const folder = join(root, 'systemd')
const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0
/** On a scale to 10; systemd's own services are between 1 and 9. */
const exposureLimit = 2

const units = [
  'cachefleet-agent.service',
  'cachefleet-agent@.service',
  'cachefleet-coordinator.service',
]

for (const unit of units)
  void t.test(unit, async (t) => {
    const text = await readFile(join(folder, unit), 'utf8')

    await t.test('ends in time, and restarts except after an invalid configuration', (t) => {
      t.match(text, /^Type=notify$/m)
      t.match(text, /^NotifyAccess=all$/m, 'systemd-notify is a child of the daemon')
      t.match(text, /^WatchdogSec=30$/m)
      t.match(text, /^Restart=on-failure$/m)
      t.match(text, /^RestartPreventExitStatus=78$/m)
      t.match(text, /^TimeoutStopSec=15$/m, 'longer than the 10 s that the daemon needs')
      t.match(text, /^ExecReload=\/bin\/kill -HUP \$MAINPID$/m)
      t.match(text, /^StateDirectoryMode=0700$/m)
      t.notMatch(text, /^MemoryDenyWriteExecute=/m, 'V8 compiles to memory')
      t.end()
    })

    if (isInstalled) {
      await t.test('is valid', (t) => checkUnit(t, unit, text))
      await t.test('is hardened', (t) => checkExposure(t, unit))
    } else
      await t.test('is hardened', (t) => {
        for (const line of hardening) t.match(text, line)
        t.end()
      })
  })

const hardening = [
  /^User=cachefleet/m,
  /^NoNewPrivileges=yes$/m,
  /^CapabilityBoundingSet=$/m,
  /^ProtectSystem=strict$/m,
  /^ProtectHome=yes$/m,
  /^PrivateTmp=yes$/m,
  /^PrivateDevices=yes$/m,
  /^RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX(?: AF_NETLINK)?$/m,
  /^RestrictNamespaces=yes$/m,
  /^SystemCallFilter=@system-service$/m,
]

void t.test(
  'the agent reads the secret and the counters through its group, not as root',
  async (t) => {
    const text = await readFile(join(folder, 'cachefleet-agent.service'), 'utf8')
    const users = await readFile(join(folder, 'cachefleet-agent.sysusers'), 'utf8')
    const files = await readFile(join(folder, 'cachefleet-agent.tmpfiles'), 'utf8')
    const listed = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(text)?.[1]?.split(' ')
    for (const { title, group, unit, secretFile } of products) {
      t.ok(listed('SupplementaryGroups')?.includes(group), title)
      t.ok(listed('After')?.includes(unit), title)
      t.match(users, `\nm cachefleet ${group}\n`)
      t.match(files, `\nz ${secretFile} 0640 root ${group} -\n`)
      t.ok(existsSync(join(folder, `${unit}.d`, 'cachefleet.conf')), title)
    }
    for (const unit of units) {
      const [, user = ''] = /^User=(.+)$/m.exec(await readFile(join(folder, unit), 'utf8')) ?? []
      const users = unit.replace(/@?\.service$/, '.sysusers')
      t.match(await readFile(join(folder, users), 'utf8'), new RegExp(`^u ${user} `, 'm'), user)
    }
  },
)

void t.test('the agents of several caches on a host share nothing but the program', async (t) => {
  const [alone, instance] = await Promise.all(
    ['', '@'].map((at) => readFile(join(folder, `cachefleet-agent${at}.service`), 'utf8')),
  )
  const withoutInstance = instance?.replaceAll(/-%i| of the cache %i/g, '')
  const stateDir = /^StateDirectory=.*$/m
  t.equal(
    withoutInstance?.replace(/.*\n/, '').replace(stateDir, ''),
    alone?.replace(/.*\n/, '').replace(stateDir, ''),
  )
  t.match(alone, /^StateDirectory=cachefleet$/m)
  t.match(instance, /^StateDirectory=cachefleet-agent-%i$/m, 'never that of the coordinator')
  t.match(instance, / --config \/etc\/cachefleet\/agent-%i\.yaml$/m)
})

void t.test('the coordinator may query the addresses that its certificate names', async (t) => {
  const text = await readFile(join(folder, 'cachefleet-coordinator.service'), 'utf8')
  t.match(text, /^RestrictAddressFamilies=.* AF_NETLINK$/m)
})

/** Each was tested with the real program of each of these releases. */
const dropIns: Readonly<Record<string, readonly string[]>> = {
  'varnish.service.d/cachefleet-6.0.conf': ['6.0.17'],
  'varnish.service.d/cachefleet-6.5.conf': ['6.5.1'],
  'varnish.service.d/cachefleet-7.2.conf': ['7.7.0'],
  'varnish.service.d/cachefleet-8.0.conf': ['8.0.1', '9.0.2'],
  'varnish.service.d/cachefleet.conf': ['7.1.1'],
  'vinyl-cache.service.d/cachefleet.conf': ['vinyl-9.0.1'],
}

const bootFile = '/var/lib/cachefleet/boot.cli'
const copiedBootFile = '/run/cachefleet-boot/boot.cli'

const readDropIn = (name: string) => readFile(join(folder, name), 'utf8')
const lockedBy = (text: string) => /^ +-r (\S+)/m.exec(text)?.[1] ?? ''

void t.test(
  'a drop-in starts its releases from boot.cli and locks the parameters that run programs',
  async (t) => {
    const whole = await readDropIn('varnish.service.d/cachefleet.conf')
    for (const [name, releases] of Object.entries(dropIns)) {
      const text = await readDropIn(name)
      t.match(
        text,
        /^Type=simple\n(.*\n){1,12}?ExecStart=\nExecStart=/m,
        'it replaces the command of the package',
      )
      const isCopied = releases.some((release) => hasQuirk(release, 'opensBootFileAsUser'))
      const boot = isCopied ? copiedBootFile : bootFile
      if (isCopied) t.match(text, `install -m 0400 -o vcache ${bootFile} ${boot};`)
      await checkStart(t, text, { boot, product: name.split('.', 1)[0] ?? '' })
      for (const release of releases) {
        const told = await readFile(
          join(root, 'test/fixtures/parameters', `${release}.txt`),
          'utf8',
        )
        t.equal(lockedBy(text), chooseProtectable(told, told).join(), `${name} on ${release}`)
      }
      if (name.startsWith('varnish'))
        t.equal(withoutRelease(text), withoutRelease(whole), 'all others are the same')
    }
    const cache = await startVarnishd(t, { vcl: null, args: ['-r', lockedBy(whole)] })
    for (const name of lockedBy(whole).split(','))
      await t.rejects(cache.adm('param.set', name, 'off'), /is protected/, name)
  },
)

/** Also without the copy that one of them makes. */
function withoutRelease(text: string): string {
  return text
    .replace(/^# For .*\. Install/, '')
    .replace(/^ +-r \S+/m, '')
    .replace(/^# This release opens .*\n/m, '')
    .replace(/install -m 0400 -o vcache .*?; /, '')
    .replace(copiedBootFile, bootFile)
}

/** Runs the drop-in's own commands with a shell, as systemd passes them, in a folder of the test. */
async function checkStart(
  t: Test,
  text: string,
  { boot, product }: { readonly boot: string; readonly product: string },
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-start-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const [kept, failed] = [join(folder, 'kept.cli'), join(folder, 'failed')]
  const runLine = (name: string, status = '') =>
    execFileSync('sh', ['-c', readCommand(text, name, folder)], { env: { EXIT_STATUS: status } })
  const readStart = async (): Promise<string> => {
    runLine('ExecStartPre')
    return readFile(join(folder, 'start'), 'utf8')
  }
  const distribution = `CACHEFLEET_START=-f /etc/${product}/default.vcl\n`
  const ours = `CACHEFLEET_START=-f '' -I ${boot}\n`
    .replace(bootFile, kept)
    .replace(copiedBootFile, join(folder, 'boot.cli'))
  t.equal(await readStart(), distribution, 'without a boot file')
  await writeFile(kept, '')
  t.equal(await readStart(), distribution, 'with an empty boot file')
  await writeFile(kept, 'vcl.use site\n')
  t.equal(await readStart(), ours)
  runLine('ExecStopPost', '2')
  t.equal(await readStart(), distribution, 'the cache did not start with the boot file')
  for (const status of ['64', '0', 'KILL']) {
    await writeFile(failed, '')
    runLine('ExecStopPost', status)
    t.equal(await readStart(), ours, `it ended with ${status}`)
  }
  t.match(text, /^RuntimeDirectory=cachefleet-boot\nRuntimeDirectoryPreserve=restart$/m)
  t.match(text, /^EnvironmentFile=-\/run\/cachefleet-boot\/start$/m)
  t.match(text, /^ {10}\$CACHEFLEET_START$/m)
}

/** The command as the shell receives it, with files in the test's folder, owned by the user of the test. */
function readCommand(text: string, name: string, folder: string): string {
  const [, command = 'false'] =
    new RegExp(`^${name}=/bin/sh -c '(.*(?:\\\\\\n.*)*)'$`, 'm').exec(text) ?? []
  return command
    .replaceAll("\\'", "'")
    .replaceAll('$$', '$')
    .replaceAll(' -o vcache', '')
    .replaceAll(bootFile, join(folder, 'kept.cli'))
    .replaceAll('/run/cachefleet-boot', folder)
}

void t.test('the boot file exists before the agent writes it', async (t) => {
  const text = await readFile(join(folder, 'cachefleet-agent.tmpfiles'), 'utf8')
  t.match(text, /^f \/var\/lib\/cachefleet\/boot\.cli 0600 cachefleet cachefleet -$/m)
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.includes('.d/'))
  t.same(files.toSorted(), Object.keys(dropIns), 'the test above covers every drop-in')
  t.equal((await readdir(folder)).length, 8, 'no other files')
})

/** Checks a copy with programs and users of this machine, so that their absence is not reported as a fault of the unit. */
async function checkUnit(t: Test, unit: string, text: string): Promise<void> {
  const copy = join(await mkdtemp(join(tmpdir(), 'cachefleet-units-')), unit)
  t.teardown(() => rm(join(copy, '..'), { recursive: true, force: true }))
  await writeFile(
    copy,
    text
      .replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`)
      .replace(/^(User|Group|SupplementaryGroups)=.*$/gm, '$1=root')
      .replace(/^Documentation=.*$/m, ''),
  )
  const { code, output } = await run(['verify', '--man=no', copy])
  t.equal(code, 0, output)
  t.notMatch(output, unit, 'not even a warning about it')
}

async function checkExposure(t: Test, unit: string): Promise<void> {
  const { output } = await run(['security', '--offline=true', join(folder, unit)])
  const [, exposure = '10'] = /Overall exposure level for \S+: ([\d.]+)/.exec(output) ?? []
  t.ok(Number(exposure) <= exposureLimit, `${exposure} is at most ${exposureLimit}`)
}

function run(words: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile('systemd-analyze', ['--no-pager', ...words], (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : 0
      resolve({ code, output: stdout + stderr })
    })
  })
}
