/** Parsing the output of caches never blocks the event loop for long (loop.test.ts). */
import assert from 'node:assert'
import { setImmediate as nextRound } from 'node:timers/promises'
import { readLimitBytes, type Command } from '../protocol/command.js'
import { capabilitiesOf } from '../protocol/capabilities.js'
import { panicShow } from '../protocol/commands/process.js'
import { chooseReadingCommands } from '../protocol/reading.js'
import { printAnswer } from '../src/agent/link/print-answer.js'
import { attempt, fill, holdsForLarge } from './support/event-loop.js'

const reply = (body: Buffer) => ({ status: 200, body })
const head = '[1, ["x"], 1.5, '
const releases = [
  {
    version: '4.1.11',
    // Texts that are parsed completely.
    bytes: readLimitBytes / 4,
    texts: [',', '\n', 'a ', '1', 'active auto/warm 0 x\n', '(1 labels) '].map((unit) => [
      '',
      unit,
    ]),
  },
  {
    version: '7.7.0',
    bytes: readLimitBytes,
    texts: [
      ...['{', '\n', 'a '].map((unit) => ['', unit]),
      ...['{', '[],', '{},', '"a",', '1'].map((unit) => [head, unit]),
      [`${head}{`, '"a":1,'],
    ],
  },
]
for (const { version, bytes, texts } of releases) {
  const reading = chooseReadingCommands(capabilitiesOf(version))
  const asked = [
    ...[reading.vclList(), reading.paramShowAll(), reading.backendList(), reading.help()],
    ...(version === '7.7.0' ? [panicShow()] : [reading.childStatus()]),
  ] as readonly Command<unknown>[]
  for (const { name, parse } of asked)
    holdsForLarge(
      `what a cache of ${version} answers to ${name}`,
      () => texts.map(([start = '', unit = '']) => Buffer.from(start + fill(unit, bytes - 100))),
      async (bodies) => {
        for (const body of bodies) {
          await nextRound()
          await Promise.resolve(attempt(() => parse(reply(body), name))).catch(() => undefined)
        }
      },
    )
  const vcl = { status: 'available', name: 'cf-1-00000000-1', state: 'auto', temperature: 'cold' }
  holdsForLarge(
    `a hundred thousand VCLs of ${version}`,
    () =>
      Buffer.from(
        version === '7.7.0'
          ? `${head}${fill(`${JSON.stringify(vcl)},`, 10 << 20)}${JSON.stringify(vcl)}]`
          : fill('available  auto/cold          0 cf-1-00000000-1\n', 5 << 20),
      ),
    async (body) => {
      const rows = await reading.vclList().parse(reply(body), 'vcl.list')
      assert.ok(rows.length > 100_000, `only ${rows.length} were read`)
    },
  )
  holdsForLarge(
    `a hundred thousand bans of ${version}`,
    () =>
      Buffer.from(
        version === '7.7.0'
          ? `[ 2, ["ban.list", "-j"], 1.5, ${fill('{"time": 1.5, "refs": 0, "completed": true, "spec": "req.url ~ \\303\\244"},\n', 10 << 20)}{"time": 1, "spec": ""}]`
          : `Present bans:\n${fill('1700000000.123456     0 -  req.url ~ ^/a\n', 10 << 20)}`,
      ),
    async (body) => printAnswer(await reading.banList().parse(reply(body), 'ban.list')),
  )
}
