/** Answers of releases without JSON, and what a release says of itself. The texts follow the formats in the source of the named releases. */

import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { capabilitiesFrom, probeCapabilities } from '../../protocol/capabilities.js'
import type { Command } from '../../protocol/command.js'
import { help } from '../../protocol/commands/process.js'
import { ManagementPortError } from '../../protocol/errors.js'
import { hasCommand, isAtLeast, parseBanner, supportsJson } from '../../protocol/release.js'
import { chooseReadingCommands, readingCommandsOf } from '../../protocol/reading.js'
import { createSimulatedEngine } from '../../protocol/simulator/simulated-engine.js'
import { parseBackendListText } from '../../protocol/text/backend-list.js'
import { parseParamShowText } from '../../protocol/text/param-show.js'
import {
  parseBanListText,
  parseHelpText,
  parsePidText,
  parseStatusText,
  parseStorageListText,
} from '../../protocol/text/process.js'
import { parseVclListText } from '../../protocol/text/vcl-list.js'
import { playScenario, readTranscript, writeTranscript, type Answer } from './release-scenario.js'
import { RawClient } from './simulator/raw-client.js'

const garbled = { name: 'ManagementPortError', kind: 'garbled' }
const unknownCommand = { name: 'ManagementPortError', kind: 'rejected', status: 101 }

void t.test('vcl.list reads state and temperature joined or apart', (t) => {
  const row = { busy: 0, labels: 0, label: null }
  const cases = {
    // mgt_vcl.c, cache_vcl.c: `%-10s %4s/%s  %6u %s` and `%-10s %5s/%-8s %6u %s`.
    '4.1': 'active     auto/warm       0 boot\n',
    '6.0': 'active      auto/warm          0 boot\n',
    '7.1': 'active      auto    warm         0    boot\n',
  }
  for (const [version, text] of Object.entries(cases))
    t.strictSame(
      parseVclListText(text),
      [{ ...row, name: 'boot', status: 'active', state: 'auto', temperature: 'warm' }],
      version,
    )
  t.end()
})

void t.test('vcl.list reads labels, their targets and who returns them', (t) => {
  const text = [
    'available  auto    warm        0   shop-1   <-   (1 label)',
    'available  label   warm        0   l-shop   ->   shop-1 (2 return(vcl)s)',
    'available  label/warm          0 l-blog -> blog-1 (1 return(vcl))',
    'discarded  cold    busy        -   shop-1',
    '',
  ].join('\n')
  const rows = parseVclListText(text)
  t.strictSame(
    rows.map(({ name, labels, label }) => ({ name, labels, label })),
    [
      { name: 'shop-1', labels: 1, label: null },
      { name: 'l-shop', labels: 0, label: { target: 'shop-1', refs: 2 } },
      { name: 'l-blog', labels: 0, label: { target: 'blog-1', refs: 1 } },
      { name: 'shop-1', labels: 0, label: null },
    ],
  )
  t.strictSame(rows[3]?.status, 'discarded')
  t.strictSame(rows[3]?.busy, null)
  t.throws(() => parseVclListText('\n'), garbled, 'an empty list is an error')
  t.throws(() => parseVclListText('sleeping auto warm 0 boot'), garbled)
  t.throws(() => parseVclListText('active boot'), garbled)
  t.end()
})

void t.test('backend.list reads three, four and five columns', (t) => {
  // Formats of do_list in cache_backend_cfg.c (4.1, 5.0), cache_director.c (6.0) and a reply of 7.1.1.
  const cases: [string, string][] = [
    [
      '4.1',
      `${'Backend name'.padEnd(30)} Admin      Probe\n${'boot.a'.padEnd(30)} probe      Healthy 5/5`,
    ],
    [
      '6.0',
      `${'Backend name'.padEnd(30)} Admin      Probe                Last updated\n${'boot.a'.padEnd(30)} probe      Healthy              5/5 Fri, 20 Nov 2026 08:27:16 GMT`,
    ],
    [
      '7.1',
      'Backend name   Admin      Probe    Health     Last change\nboot.a         probe      5/5      healthy    Fri, 20 Nov 2026 08:27:16 GMT\n Current states  good:  5 threshold:  3 window:  5\n',
    ],
  ]
  for (const [version, text] of cases)
    t.match(
      parseBackendListText(text),
      [{ name: /^boot\.a/, adminHealth: 'probe', good: 5, total: 5, isHealthy: true }],
      version,
    )
  // 6.1, VBP_Status and do_list; `-p` draws what it does not indent.
  t.match(
    parseBackendListText(
      'Backend name Admin Probe Last change\nboot.a probe 5/5 good Fri, 20 Nov 2026 08:27:16 GMT\nCurrent states  good:  5 threshold:  3 window:  5\n  Oldest ==\nboot.b probe 0/8 bad Fri, 20 Nov 2026 08:27:16 GMT\nboot.c probe healthy Fri, 20 Nov 2026 08:27:16 GMT',
    ),
    [
      { name: 'boot.a', good: 5, total: 5, isHealthy: true },
      { name: 'boot.b', good: 0, total: 8, isHealthy: false },
      { name: 'boot.c', good: 0, total: 0, isHealthy: true },
    ],
  )
  const sick =
    'Backend name   Admin    Probe    Health    Last change\nboot.b sick Sick 0/8 never\n'
  t.match(parseBackendListText(sick), [{ isHealthy: false, good: 0, lastChangeSeconds: null }])
  t.equal(
    parseBackendListText(cases[2]?.[1] ?? '')[0]?.lastChangeSeconds,
    Date.UTC(2026, 10, 20, 8, 27, 16) / 1000,
  )
  t.throws(() => parseBackendListText(''), garbled)
  t.throws(() => parseBackendListText('Backend name\nboot.b\n'), garbled)
  t.end()
})

void t.test('param.show reads value, unit, bounds and description of each block', (t) => {
  const text = [
    'cc_command',
    '        Value is: exec x [y] %s',
    '        Default is: exec gcc',
    '',
    '        The command.',
    '',
    'default_ttl',
    '        Value is: 120.000 [seconds] (default)',
    '        Minimum is: 0.000',
    '',
    '        The TTL',
    '        assigned to objects.',
    '',
  ].join('\n')
  t.match(parseParamShowText(text), [
    {
      name: 'cc_command',
      value: 'exec x [y] %s',
      default: 'exec gcc',
      description: 'The command.',
    },
    {
      name: 'default_ttl',
      value: '120.000',
      units: 'seconds',
      default: '120.000',
      minimum: '0.000',
      maximum: null,
      description: 'The TTL\nassigned to objects.',
    },
  ])
  t.throws(() => parseParamShowText('What?\n'), garbled)
  t.end()
})

void t.test('bans, processes, stores and commands are read from text', (t) => {
  const bans = [
    'Present bans:',
    '1795163021.520645     0 -  req.url !~ a b',
    '1795163236.111161     7 C  ',
    '1795163236.100000     0 -RO 0x7f00ab   req.url ~ x',
    '  oc = 0x7f00ac',
    '1795163236.000000     0    req.url ~ 4.1',
    '',
  ].join('\n')
  t.strictSame(parseBanListText(bans), [
    {
      timeSeconds: 1795163021.520645,
      references: 0,
      isCompleted: false,
      expression: 'req.url !~ a b',
    },
    { timeSeconds: 1795163236.111161, references: 7, isCompleted: true, expression: '' },
    { timeSeconds: 1795163236.1, references: 0, isCompleted: false, expression: 'req.url ~ x' },
    { timeSeconds: 1795163236, references: 0, isCompleted: false, expression: 'req.url ~ 4.1' },
  ])
  t.throws(() => parseBanListText('no'), garbled)
  t.throws(() => parseBanListText('Present bans:\nnonsense'), garbled)
  t.equal(parseStatusText('Child in state died, (restarting)'), 'died')
  t.throws(() => parseStatusText('Child in state of shock'), garbled)
  t.strictSame(parsePidText('Master:      28134\nWorker:      28172\n'), {
    master: 28134,
    worker: 28172,
  })
  t.strictSame(parsePidText('Master:      28134\n'), { master: 28134, worker: null })
  t.throws(() => parsePidText(''), garbled)
  t.strictSame(
    parseStorageListText('Storage devices:\n\tstorage.s0 = file\n\tstorage.Transient = malloc\n'),
    [
      { name: 's0', kind: 'file' },
      { name: 'Transient', kind: 'malloc' },
    ],
  )
  t.throws(() => parseStorageListText(''), garbled)
  t.strictSame(parseHelpText('ping [-j] [<timestamp>]\nquit\n\n'), [
    { name: 'ping', syntax: 'ping [-j] [<timestamp>]', hasJson: true },
    { name: 'quit', syntax: 'quit', hasJson: false },
  ])
  t.end()
})

void t.test('the banner is read loosely', (t) => {
  const lines = [
    '-----',
    'Varnish Cache CLI 1.0',
    '-----',
    'Linux,6.18.44-x-v5,x86_64,-junix',
    '',
    '',
  ]
  const read = (line: string) => {
    const { product, version } = parseBanner(lines.toSpliced(4, 0, line).join('\n'))
    return [product, version]
  }
  t.strictSame(read('varnish-7.1.1 revision 7cee1c58'), ['varnish', '7.1.1'])
  t.strictSame(read('varnish-plus-6.0.13r8 revision abc'), ['varnish-plus', '6.0.13r8'])
  t.strictSame(read('vinyl-cache-9.0.0 revision NOGIT'), ['vinyl-cache', '9.0.0'])
  t.strictSame(read('varnish-trunk revision abc'), ['varnish', null])
  t.strictSame(read('something else'), [null, null])
  t.end()
})

void t.test('each release is asked in the form it answers', (t) => {
  const table: [string | null, string, boolean][] = [
    ['5.2.1', 'vcl.list', false],
    ['6.0.0', 'vcl.list', false],
    ['6.0.16', 'vcl.list', true],
    ['6.0.13r8', 'pid', true],
    ['6.0.16', 'backend.list', false],
    ['6.1.1', 'vcl.list', false],
    ['6.1.1', 'backend.list', true],
    ['6.0.0', 'help', true],
    ['6.2.0', 'backend.list', true],
    ['7.1.1', 'param.reset', false],
    ['7.5.0', 'param.reset', true],
    ['8.0.0', 'vcl.deps', true],
    [null, 'vcl.list', true],
    [null, 'vcl.use', false],
  ]
  for (const [version, command, expected] of table)
    t.equal(supportsJson(version, command), expected, `${String(version)} ${command}`)
  t.equal(isAtLeast('10.0.0', '9.9.9'), true)
  t.same(
    ['6.0.4', '6.0.16', '6.1.1', '6.4.0', null].map((version) => [
      hasCommand(version, 'param.reset'),
      hasCommand(version, 'pid'),
      hasCommand(version, 'vcl.deps'),
      hasCommand(version, 'vcl.use'),
    ]),
    [
      [false, false, false, true],
      [true, true, false, true],
      [false, false, false, true],
      [true, true, false, true],
      [true, true, true, true],
    ],
  )
  t.equal(readingCommandsOf('5.2.1').vclList().line, 'vcl.list')
  t.equal(readingCommandsOf('7.1.1').vclList().line, 'vcl.list -j')
  t.equal(readingCommandsOf('6.0.16').backendList({ pattern: 'a*' }).line, 'backend.list a*')
  t.end()
})

const folder = new URL('../fixtures/releases/', import.meta.url)
const releases = readdirSync(folder).filter((name) => /^\d/.test(name))

const readFixture = (release: string) =>
  readFileSync(new URL(`${release}/answers.txt`, folder), 'latin1')

/** What a kept answer says to a command, as a connection would tell it. */
function hear<Result>(answers: ReadonlyMap<string, Answer>, command: Command<Result>): Result {
  const answer = answers.get(command.line.toString())
  if (answer === undefined) throw new Error(`not asked in the scenario: ${command.line.toString()}`)
  const body = Buffer.from(answer.body, 'latin1')
  return command.parse({ status: answer.status, body }, command.name)
}

/** Runs against kept answers. */
const keptRunner = (answers: ReadonlyMap<string, Answer>) => ({
  run: <Result>(command: Command<Result>) =>
    new Promise<Result>((resolve) => {
      resolve(hear(answers, command))
    }),
})

for (const release of releases) {
  void t.test(`answers of ${release} are read into the same records`, async (t) => {
    const answers = readTranscript(readFixture(release))
    const capabilities = await probeCapabilities(keptRunner(answers), release)
    const reading = chooseReadingCommands(capabilities)
    const heard = <Result>(command: Command<Result>) => hear(answers, command)

    t.equal(capabilities.hasCommand('pid'), hasCommand(release, 'pid'))
    t.equal(capabilities.hasCommand('param.reset'), hasCommand(release, 'param.reset'))
    t.equal(capabilities.discardsSeveral, isAtLeast(release, '6.6'))
    t.match(
      heard(reading.vclList()).map(({ name, status, state, labels, label }) => {
        return { name, status, state, labels, label }
      }),
      [
        { name: 'boot', status: 'available', state: 'auto', labels: 0, label: null },
        { name: 'shop-1', status: 'available', state: 'auto', labels: 1, label: null },
        { name: 'l-shop', state: 'label', label: { target: 'shop-1', refs: 1 } },
        { name: 'root-1', status: 'active', state: 'auto', labels: 0, label: null },
      ],
    )
    t.match(heard(reading.backendList()), [
      { name: 'shop-1.default', adminHealth: 'sick', good: 0, total: 0, isHealthy: false },
      { name: 'shop-1.probed', adminHealth: 'probe', good: 0, total: 8, isHealthy: false },
    ])
    t.ok(heard(reading.backendList()).every((row) => row.lastChangeSeconds !== null))
    t.match(heard(reading.banList()), [{ isCompleted: false, expression: 'req.url ~ ^/a\\.b' }])
    const ttl = { name: 'default_ttl', units: 'seconds', default: '120.000', minimum: '0.000' }
    t.match(heard(reading.paramShow('default_ttl')), ttl)
    t.equal(heard(reading.childStatus()), 'running')
    t.match(heard(reading.storageList())[0], { name: 's0' })
    if (capabilities.hasCommand('pid'))
      t.same(heard(reading.processIds()), { master: 28134, worker: 28172 })
    else t.throws(() => heard(reading.processIds()), unknownCommand)
  })

  void t.test(`a simulated ${release} answers as that release does`, async (t) => {
    const engine = createSimulatedEngine({ version: release })
    engine.setProbes('sick')
    const client = new RawClient(engine.connect())
    await client.next()
    const found = writeTranscript(await playScenario(client))
    engine.close()
    t.equal(found, readFixture(release))
  })
}

void t.test('a cache that does not tell what it can is judged by its release', async (t) => {
  const answers = readTranscript(readFixture('6.0.16'))
  const listed = (...commands: string[]) =>
    new Map([...answers].filter(([line]) => commands.includes(line)))
  const refuse = (status: number, kept = new Map<string, Answer>()) => ({
    run: <Result>(command: Command<Result>) =>
      Promise.resolve(
        kept.has(command.line.toString())
          ? hear(kept, command)
          : command.parse({ status, body: Buffer.from('no\n') }, command.name),
      ),
  })
  const judge = async (runner: Parameters<typeof probeCapabilities>[0], version: string | null) => {
    const { hasCommand: has, answersJson } = await probeCapabilities(runner, version)
    return [has('pid'), answersJson('vcl.list'), answersJson('backend.list')]
  }
  for (const status of [101, 102, 105, 201]) {
    t.same(await judge(refuse(status), '6.0.0'), [false, false, false], String(status))
    t.same(await judge(refuse(status), null), [true, true, true], 'the newest')
    // The text promises a -j for backend.list that the release does not have.
    t.same(await judge(refuse(status, listed('help')), '6.0.16'), [true, true, false])
  }
  t.same(await judge(refuse(101, listed('help -j')), null), [true, true, false], 'its own word')
  const lost = new ManagementPortError('lost', 'gone')
  await t.rejects(probeCapabilities({ run: () => Promise.reject(lost) }, '7.1.1'), lost)

  const manager = hear(answers, help()).filter(({ name }) => name === 'vcl.list')
  const stopped = capabilitiesFrom(manager, '7.1.1')
  t.equal(stopped.answersJson('ban.list'), true, 'a manager alone lists no commands of its child')
  t.equal(stopped.discardsSeveral, true)
})
