/** Recorded replies of seven releases are parsed, and matched by a simulated cache of the same release. */
import t, { type Test } from 'tap'
import { typedLine, type Command } from '../../protocol/command.js'
import { backendList } from '../../protocol/commands/backend.js'
import { banList } from '../../protocol/commands/ban.js'
import { paramShow, paramShowAll } from '../../protocol/commands/param.js'
import {
  childStatus,
  help,
  panicClear,
  panicShow,
  ping,
  processIds,
  storageList,
} from '../../protocol/commands/process.js'
import {
  vclDiscard,
  vclInline,
  vclLabel,
  vclList,
  vclShow,
  vclShowParts,
  vclUse,
} from '../../protocol/commands/vcl.js'
import { ManagementPortError } from '../../protocol/errors.js'
import { parseBanner } from '../../protocol/release.js'
import { backendListText } from '../../protocol/text/backend-list.js'
import { paramShowText } from '../../protocol/text/param-show.js'
import {
  banListText,
  childStatusText,
  helpText,
  processIdsText,
  storageListText,
} from '../../protocol/text/process.js'
import { vclListText } from '../../protocol/text/vcl-list.js'
import { createSimulatedEngine } from '../support/simulated-engine.js'
import { lineOf, readRecordings, type RecordedAnswer } from './recorded-lines.js'
import { RawClient } from './simulator/raw-client.js'

const whole: Readonly<Record<string, Command<unknown>>> = {
  ping: ping(),
  status: childStatusText(),
  'status -j': childStatus(),
  pid: processIdsText(),
  'pid -j': processIds(),
  help: helpText(),
  'help -j': help(),
  'storage.list': storageListText(),
  'storage.list -j': storageList(),
  'vcl.list': vclListText(),
  'vcl.list -j': vclList(),
  'ban.list': banListText(),
  'ban.list -j': banList(),
  'param.show -j': paramShowAll(),
  'panic.show': panicShow(),
  'panic.clear': panicClear(),
}

const byStart: readonly (readonly [start: string, make: (rest: string) => Command<unknown>])[] = [
  ['backend.list -j', () => backendList()],
  ['backend.list', () => backendListText()],
  ['param.show -j ', paramShow],
  ['param.show ', paramShowText],
  ['vcl.show -v ', vclShowParts],
  ['vcl.show ', vclShow],
  ['vcl.inline ', () => vclInline('a', 'b')],
  ['vcl.use ', () => vclUse('a')],
  ['vcl.label ', () => vclLabel('a', 'b')],
  ['vcl.discard ', () => vclDiscard(['a'])],
]

/** The command that would have sent it, or a user's own line. */
function commandOf(cmd: string): Command<unknown> {
  const own = whole[cmd]
  if (own) return own
  const [start, make] = byStart.find(([start]) => cmd.startsWith(start)) ?? []
  const rest = cmd.slice(start?.length)
  // Words that the agent never sends.
  if (!make || rest.includes('changed') || !/^[A-Za-z]?[\w-]*$/.test(rest.trim()))
    return typedLine('ping')
  return make(rest.trim())
}

for (const [name, answers] of readRecordings())
  void t.test(name, async (t) => {
    const banner = answers.find(({ cmd }) => cmd === 'auth')
    t.match(parseBanner(banner?.body ?? ''), { version: name.replace(/^[a-z]+-/, '') })
    await t.test('is parsed', (t) => readAll(t, answers))
    await t.test('is answered alike', (t) => playAll(t, name, answers))
  })

async function readAll(t: Test, answers: readonly RecordedAnswer[]): Promise<void> {
  const garbled: string[] = []
  let read = 0
  for (const { cmd, status, body } of answers) {
    const command = commandOf(cmd)
    const reply = { status, body: Buffer.from(body) }
    try {
      await command.parse(reply, command.name)
      read += 1
    } catch (error) {
      if (!(error instanceof ManagementPortError)) throw error
      if (error.kind !== 'rejected') garbled.push(cmd)
    }
  }
  t.same(garbled, ['vcl.list'], 'asked before any VCL: a child without an answer')
  t.ok(read > 100, `${read} of ${answers.length} say something`)
}

/** Simulated caches have the parameters of 7.1, and no certificates. */
const notSimulated =
  /^(?:param\.\w+ (?:-j )?(?:deprecated_dummy|vcc_feature|pcre_match_limit)\b|tls\.)/

async function playAll(t: Test, name: string, answers: readonly RecordedAnswer[]): Promise<void> {
  const engine = createSimulatedEngine({ version: name, bootVcl: null })
  // The probe of the real one reached no backend.
  engine.setProbes('sick')
  const client = new RawClient(engine.connect())
  await client.next()
  let played = 0
  for (const { cmd, status } of answers) {
    const line = lineOf(cmd)
    if (line === null || notSimulated.test(cmd)) continue
    const reply = await client.ask(line)
    const found = reply === 'closed' ? reply : reply.status
    if (found !== status) t.equal(found, status, cmd)
    played += 1
  }
  engine.close()
  t.ok(played > 220, `${played} lines answered alike`)
}
