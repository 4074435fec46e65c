/** Settings: their sources, precedence, and the messages for invalid ones (docs/behaviour.md, Settings). */
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ConfigError, describeSettings, loadConfig, type Environment } from '../config/load.js'
import { createSchema, type Settings } from '../config/schema.js'
import { runDaemon, startDaemon } from './support/daemon.js'
import { eventually } from './support/eventually.js'
import { root } from './support/root.js'

function load(words: readonly string[], environment: Environment = {}): Settings {
  const loaded = loadConfig(words, environment)
  if (loaded.kind !== 'run') throw new Error(`it is ${loaded.kind}`)
  return loaded.settings
}

function refusalOf(words: readonly string[], environment: Environment = {}): string {
  try {
    load(words, environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error('it was accepted')
}

async function makeFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-config-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

void t.test(
  'a flag overrides a variable, a variable the file, and the file the default',
  async (t) => {
    const folder = await makeFolder(t)
    const yaml = join(folder, 'one.yaml')
    const json = join(folder, 'one.json')
    await writeFile(yaml, 'heartbeat: 7\nname: from-file\ntags: [a, b]\nreadOnly: true\n')
    await writeFile(json, '{"heartbeat": 8, "listen": "127.0.0.1:9000"}')
    const environment = { CACHEFLEET_HEARTBEAT: '9', CACHEFLEET_NAME: 'from-variable' }

    t.equal(load([]).heartbeat, 5)
    t.match(load(['--config', yaml]), { heartbeat: 7, tags: ['a', 'b'], readOnly: true })
    t.match(load(['--config', json]), { heartbeat: 8, listen: { host: '127.0.0.1', port: 9000 } })
    t.equal(load(['--config', yaml], environment).heartbeat, 9)
    t.equal(load(['--config', yaml, '--heartbeat', '10'], environment).heartbeat, 10)
    t.equal(load(['--config', yaml, '--name', 'from-flag'], environment).name, 'from-flag')
    t.equal(load(['--tags', 'x, y,,z']).tags.join(), 'x,y,z')
    t.same([load([]).vmods, load(['--vmods', 'std']).vmods], [['std', 'directors'], ['std']])
    t.equal(load(['--public-url', 'https://Fleet.example/']).publicUrl, 'https://fleet.example')
    t.equal(load(['--read-only']).readOnly, true)
    t.match(load([]), { statsInterval: 10, statsArchives: 16, metricsListen: null, counters: [] })
    t.same(load(['--metrics-listen', '[::1]:9131']).metricsListen, { host: '::1', port: 9131 })
  },
)

void t.test('a value is parsed alike from a flag, a variable and a file', async (t) => {
  const folder = await makeFolder(t)
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const yaml = await write('one.conf', 'name: 123\ntags: [1, b]\nstats-interval: 7\nengine: null\n')
  t.match(load(['--config', yaml]), { name: '123', tags: ['1', 'b'], statsInterval: 7 })
  const json = await write('two.json', '{"name": "123", "stateDir": null, "readOnly": "true"}')
  t.match(load(['--config', json]), { name: '123', readOnly: true, stateDir: load([]).stateDir })
  t.match(load(['--config', await write('empty.yaml', '# nothing\n')]), { heartbeat: 5 })
  for (const name of ['1e3', '0x10', '007', 'true']) {
    t.equal(load(['--name', name]).name, name)
    t.equal(load([], { CACHEFLEET_NAME: name }).name, name)
  }
  for (const [text, says] of [
    ['[]', /settings by name/],
    ['tags: [{ web: eu }]', /tags must be a text/],
    ['heartbeat: {}', /heartbeat must be a text/],
    ['stateDir: /a\nstate-dir: /b', /state-dir is there twice/],
  ] as const)
    t.match(refusalOf(['--config', await write('wrong.yaml', text)]), says)
})

void t.test('an empty variable counts as unset', (t) => {
  const empty = { CACHEFLEET_HEARTBEAT: '', CACHEFLEET_NAME: '', CACHEFLEET_JOIN_TOKEN: '' }
  const settings = load(['--name', 'one'], empty)
  t.equal(settings.heartbeat, 5)
  t.equal(settings.joinToken, null)
  t.end()
})

void t.test('the state dir is that of systemd, or else is in the user’s state home', (t) => {
  t.equal(
    load([], { STATE_DIRECTORY: '/var/lib/cachefleet:/other' }).stateDir,
    '/var/lib/cachefleet',
  )
  t.equal(
    load([], { XDG_STATE_HOME: '/home/someone/.state' }).stateDir,
    '/home/someone/.state/cachefleet',
  )
  t.equal(load(['--state-dir', '/x'], { STATE_DIRECTORY: '/var/lib/cachefleet' }).stateDir, '/x')
  t.end()
})

void t.test('an invalid setting is named, with the valid form', async (t) => {
  const file = join(await makeFolder(t), 'wrong.yaml')
  await writeFile(file, 'heartbeet: 5\n')
  const table: readonly [words: string[], environment: Environment, ...says: RegExp[]][] = [
    [['--heartbeat', '0'], {}, /--heartbeat/, /whole number from 1 to 3600/],
    [['--heartbeat', '1e1'], {}, /--heartbeat/, /whole number/],
    [['--state-dir', ''], {}, /--state-dir/, /not empty/],
    [['--tags', `web,${'x'.repeat(256)}`], {}, /--tags/, /1 to 255 characters/],
    [['--tags', 'line\nfeed'], {}, /--tags/, /without controls/],
    [[], { CACHEFLEET_HEARTBEAT: '5s' }, /heartbeat/, /whole number/],
    [['--listen', '8002'], {}, /--listen/, /HOST:PORT/],
    [['--stats-interval', '61'], {}, /--stats-interval/, /whole number from 1 to 60/],
    [['--stats-archives', '17'], {}, /--stats-archives/, /whole number from 1 to 16/],
    [['--metrics-listen', '9131'], {}, /--metrics-listen/, /HOST:PORT/],
    [['--listen', '127.0.0.1:70000'], {}, /HOST:PORT/],
    [['--name', 'under_score'], {}, /--name/, /1 to 52 letters, digits or dashes/],
    [['--name', 'a'.repeat(53)], {}, /--name/, /52/],
    [['--engine', 'imagine'], {}, /--engine/, /attach/, /spawn/, /simulate/],
    [['--adopt-group', 'web'], {}, /--adopt-group/, /--takeover adopt/],
    [['--takeover', 'adopt', '--adopt-group', 'x'.repeat(201)], {}, /--adopt-group/, /1 to 200/],
    [['--takeover', 'adopt'], { CACHEFLEET_ADOPT_GROUP: 'a\nb' }, /--adopt-group/, /controls/],
    [['--takeover', 'never'], {}, /--takeover/, /registration/, /first-deploy/, /adopt/],
    [['--store', 'mysql://x'], {}, /--store/, /sqlite:PATH or postgres/],
    [['--coordinator-url', 'http://x'], {}, /--coordinator-url/, /ws:/],
    [['--public-url', 'fleet.example'], {}, /--public-url/, /https:\/\/HOST/],
    [['--public-url', 'https://fleet.example/below'], {}, /without a path/],
    [['--public-url', 'ftp://fleet.example'], {}, /without a path/],
    [[], { CACHEFLEET_PUBLIC_URL: 'https://me@fleet.example' }, /without a path/],
    [['--trusted-proxies', 'proxy.example'], {}, /--trusted-proxies/, /10\.0\.0\.0\/8/],
    [['--trusted-proxies', '10.0.0.0/33'], {}, /--trusted-proxies/],
    [['--trusted-proxies', '::1,fd00::/129'], {}, /--trusted-proxies/],
    [['--connections-per-address', '0'], {}, /--connections-per-address/, /from 1 to 40000/],
    [['--log-level', 'loud'], {}, /--log-level/, /info/],
    [[], { CACHEFLEET_READ_ONLY: 'maybe' }, /--read-only/, /true or false/],
    [['--tls-cert', '/x'], {}, /--tls-cert and --tls-key/],
    [['--no-agent'], {}, /--coordinator/],
    [['--no-such-flag'], {}, /--no-such-flag/, /--help/],
    [['word'], {}, /word/],
    [['--config', '/nowhere/x.yaml'], {}, /--config/, /nowhere/],
    [['--config', file], {}, /heartbeet/],
  ]
  for (const [words, environment, ...says] of table) {
    const refusal = refusalOf(words, environment)
    for (const pattern of says) t.match(refusal, pattern, `${words.join(' ')}: ${refusal}`)
  }
})

void t.test('trusted proxies are addresses and networks', (t) => {
  const settings = load(['--trusted-proxies', '192.0.2.7, 10.0.0.0/8,::1,fd00::/8'])
  t.same(settings.trustedProxies, ['192.0.2.7', '10.0.0.0/8', '::1', 'fd00::/8'])
  t.end()
})

void t.test('a flag that holds a password causes a warning and is hidden', async (t) => {
  const word = 'word-of-the-store'
  const table: readonly [words: string[], tells: string[]][] = [
    [['--store', `postgres://fleet:${word}@db/fleet`], ['--store']],
    [['--store', `postgresql://db/fleet?user=fleet&password=${word}`], ['--store']],
    [['--store', 'postgres://fleet@db/fleet'], []],
    [['--store', 'sqlite:/var/lib/a@b:c'], []],
    [
      ['--bus', `nats://fleet:${word}@bus`, '--store', `postgres://a:${word}@b/c`],
      ['--store', '--bus'],
    ],
    [['--bus', `nats://one,nats://${word}@two`], ['--bus']],
    [['--bus', 'nats://one:4222,nats://two:4222'], []],
    [['--bus', 'in-process'], []],
  ]
  for (const [words, tells] of table) {
    const loaded = loadConfig(words, { CACHEFLEET_STORE: `postgres://a:${word}@b/c` })
    t.match(loaded, { kind: 'run', secretFlags: tells }, words.join(' '))
  }

  const [[words] = [[], []]] = table
  const stateDir = ['--state-dir', await makeFolder(t)]
  const daemon = startDaemon(t, [...words, ...stateDir, '--engine', 'simulate'])
  const told = await eventually('the warning is logged', () =>
    daemon.lines().find(({ flag }) => flag === '--store'),
  )
  t.match(told, { level: 'warn', msg: /everybody on this host .* by its variable/ })
  t.notMatch(await readFile(`/proc/${daemon.pid}/cmdline`, 'utf8'), word)
  t.notMatch(daemon.output() + daemon.errors(), word)
})

void t.test('the examples are valid', async (t) => {
  const folder = join(root, 'config')
  const examples = (await readdir(folder)).filter((name) => name.endsWith('.example.yaml'))
  t.not(examples.length, 0)
  for (const name of examples) t.ok(load(['--config', join(folder, name)]), name)
  const agent = load(['--config', join(folder, 'agent.example.yaml')])
  t.equal(agent.takeover, 'first-deploy', 'the cache keeps what it serves')
})

void t.test('--help names flag, variable and default of each setting', (t) => {
  const text = describeSettings({})
  for (const { arg, env } of Object.values(createSchema({ stateDir: '/state', name: 'host' }))) {
    if (arg !== undefined) t.match(text, `--${arg}`)
    t.match(text, env)
  }
  t.match(text, /--heartbeat, CACHEFLEET_HEARTBEAT\n.*\(default: 5 s\)/)
  t.notMatch(text, '--join-token,', 'no flag takes a secret as its value')
  t.notMatch(text, '--admin-password')
  t.end()
})

void t.test('invalid settings exit with 78; --help, --version and checks with 0', async (t) => {
  const [wrong, checked, printed, help, named, shortPassword, noCounter] = await Promise.all([
    runDaemon(['--heartbeat', 'often']),
    runDaemon(['--check-config', '--name', 'one']),
    runDaemon(['--print-config', '--store', 'postgres://me:hidden-one@db/fleet'], {
      environment: {
        CACHEFLEET_JOIN_TOKEN: 'hidden-two',
        CACHEFLEET_ADMIN_PASSWORD: 'hidden-three-and-long',
      },
    }),
    runDaemon(['admin', '--help']),
    runDaemon(['--version']),
    runDaemon(['--coordinator', '--no-agent', '--state-dir', await makeFolder(t)], {
      environment: { CACHEFLEET_ADMIN_PASSWORD: 'too short' },
    }),
    runDaemon([
      '--engine',
      'simulate',
      '--counters',
      'no/such',
      '--state-dir',
      await makeFolder(t),
    ]),
  ])
  t.match(wrong, { code: 78, errors: /--heartbeat/, output: '' })
  t.equal(wrong.errors.trim().split('\n').length, 1, 'one line, no stack trace')
  t.match(checked, { code: 0, output: /valid/ })
  t.match(printed, { code: 0, output: /"heartbeat": 5/ })
  t.notMatch(printed.output, /hidden/)
  t.match(help, { code: 0, output: /--coordinator, CACHEFLEET_COORDINATOR/ })
  t.match(named, { code: 0, output: /^cachefleetd \d+\.\d+\.\d+/ })
  t.match(shortPassword, { code: 78, errors: /CACHEFLEET_ADMIN_PASSWORD/ })
  t.match(shortPassword.errors, '12')
  t.notMatch(shortPassword.errors, 'too short')
  t.match(noCounter, { code: 78, errors: /counters: "no\/such".*MAIN\.esi_errors/ })
})
