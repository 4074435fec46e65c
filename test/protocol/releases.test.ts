/** How a release describes itself, which form of a command each gets, and that stored replies of each parse alike. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { capabilitiesFrom, capabilitiesOf, probeCapabilities } from '../../protocol/capabilities.js'
import type { Command } from '../../protocol/command.js'
import { help } from '../../protocol/commands/process.js'
import { ManagementPortError } from '../../protocol/errors.js'
import { chooseReadingCommands } from '../../protocol/reading.js'
import { hasCommand, isAtLeast, parseBanner, supportsJson } from '../../protocol/release.js'
import { createSimulatedEngine } from '../support/simulated-engine.js'
import { root } from '../support/root.js'
import { playScenario, readTranscript, writeTranscript, type Answer } from './release-scenario.js'
import { RawClient } from './simulator/raw-client.js'

void t.test('each release gets the form of a command that it supports', (t) => {
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
  const readAs = (version: string) => chooseReadingCommands(capabilitiesOf(version))
  t.equal(readAs('5.2.1').vclList().line, 'vcl.list')
  t.equal(readAs('7.1.1').vclList().line, 'vcl.list -j')
  t.equal(readAs('6.0.16').backendList({ pattern: 'a*' }).line, 'backend.list a*')
  t.end()
})

void t.test('product and version are parsed separately', (t) => {
  const table: [string, string | null, string | null][] = [
    ['varnish-7.7.3 revision d2d4ad6', 'varnish', '7.7.3'],
    ['varnish-9.0.2 revision NOGIT', 'varnish', '9.0.2'],
    ['vinyl-cache-9.0.1 revision NOGIT', 'vinyl-cache', '9.0.1'],
    ['varnish-trunk revision 0123abc', 'varnish', null],
  ]
  for (const [line, product, version] of table)
    t.match(parseBanner(`Vinyl Cache CLI 1.0\n${line}\n\nType`), { product, version }, line)
  t.end()
})

const folder = join(root, 'test/fixtures/releases')
const releases = readdirSync(folder).filter((name) => /^\d/.test(name))

const unknownCommand = { name: 'ManagementPortError', kind: 'rejected', status: 101 }

const readFixture = (release: string) =>
  readFileSync(join(folder, release, 'answers.txt'), 'latin1')

/** Parses a stored reply to a command, as a connection would. */
function hear<Result>(answers: ReadonlyMap<string, Answer>, command: Command<Result>): Result {
  const answer = answers.get(command.line.toString())
  if (answer === undefined) throw new Error(`not asked in the scenario: ${command.line.toString()}`)
  const body = Buffer.from(answer.body, 'latin1')
  return command.parse({ status: answer.status, body }, command.name) as Result // short replies are not async
}

/** Runs commands against stored replies. */
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
    const found = await playScenario(client)
    engine.close()
    t.equal(withoutRefusal(found), withoutRefusal(readTranscript(readFixture(release))))
  })
}

/** Compiler messages differ in their text. */
function withoutRefusal(answers: ReadonlyMap<string, Answer>): string {
  const withoutText = [...answers].map(([line, { status, body }]) => {
    return [
      line,
      { status, body: body.replace(/^(Message from VCC-compiler:\n)[^]*/, '$1') },
    ] as const
  })
  return writeTranscript(new Map(withoutText))
}

void t.test('a cache that does not list its commands is judged by its release', async (t) => {
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
    t.same(await judge(refuse(status), null), [true, true, true], 'as for the newest release')
    // The text lists a -j for backend.list that the release lacks.
    t.same(await judge(refuse(status, listed('help')), '6.0.16'), [true, true, false])
  }
  t.same(await judge(refuse(101, listed('help -j')), null), [true, true, false], 'its own list')
  const lost = new ManagementPortError('lost', 'gone')
  await t.rejects(probeCapabilities({ run: () => Promise.reject(lost) }, '7.1.1'), lost)

  const manager = hear(answers, help()).filter(({ name }) => name === 'vcl.list')
  const stopped = capabilitiesFrom(manager, '7.1.1')
  t.equal(stopped.answersJson('ban.list'), true, 'a stopped child’s commands are missing')
  t.equal(stopped.discardsSeveral, true)
})
