/**
 * The protocol's scenario on the real cache that comes first in PATH: it has the capabilities known for its release, its
 * replies can be parsed, and a simulated cache of the same release gives the same ones.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { capabilitiesOf, probeCapabilities } from '../../protocol/capabilities.js'
import type { Command } from '../../protocol/command.js'
import { chooseReadingCommands } from '../../protocol/reading.js'
import { hasQuirk, quirkNames } from '../../protocol/quirks.js'
import { parseBanner } from '../../protocol/release.js'
import { readRelease } from '../support/cache-program.js'
import { root } from '../support/root.js'
import { createSimulatedEngine } from '../support/simulated-engine.js'
import { startVarnishd } from '../support/varnishd.js'
import { playScenario, type Answer } from './release-scenario.js'
import { openTcp, RawClient } from './simulator/raw-client.js'

const release = readRelease()
const asked = ['pid', 'param.reset', 'vcl.deps', 'vcl.list', 'backend.list', 'ban.list'] as const

/** Runs commands against stored replies. */
const keptRunner = (answers: ReadonlyMap<string, Answer>) => ({
  run: <Result>(command: Command<Result>) =>
    new Promise<Result>((resolve) => {
      const { status, body } = answers.get(command.line.toString()) ?? { status: 101, body: '' }
      const reply = { status, body: Buffer.from(body, 'latin1') }
      resolve(command.parse(reply, command.name))
    }),
})

void t.test(`${release.name} is what its version line says`, async (t) => {
  const cache = await startVarnishd(t, { secret: null })
  const real = await openTcp(cache.port)
  const greeting = await real.next()
  const banner = parseBanner(greeting === 'closed' ? greeting : greeting.body)
  t.equal(banner.version, release.version)

  const answers = await playScenario(real)
  const engine = createSimulatedEngine({ version: release.name })
  engine.setProbes('sick')
  const client = new RawClient(engine.connect())
  await client.next()
  const simulated = await playScenario(client)
  engine.close()
  for (const [line, { status }] of answers) t.equal(simulated.get(line)?.status, status, line)

  const capabilities = await probeCapabilities(keptRunner(answers), release.version)
  const known = capabilitiesOf(release.version)
  for (const command of asked) {
    t.equal(capabilities.hasCommand(command), known.hasCommand(command), command)
    t.equal(capabilities.answersJson(command), known.answersJson(command), `${command} -j`)
  }
  t.equal(capabilities.discardsSeveral, known.discardsSeveral)

  const reading = chooseReadingCommands(capabilities)
  const commands: readonly Command<unknown>[] = [
    ...[reading.vclList(), reading.backendList(), reading.banList()],
    ...[reading.childStatus(), reading.paramShow('default_ttl')],
  ]
  for (const command of commands) {
    const [wanted, found] = await Promise.all(
      [answers, simulated].map((kept) => keptRunner(kept).run(command)),
    )
    t.same(withoutTexts(found), withoutTexts(wanted), command.name)
  }
  real.close()
  await writeFacts(capabilities)
})

/** A simulated cache has descriptions of its own. */
function withoutTexts(record: unknown): unknown {
  return JSON.parse(
    JSON.stringify(record, (key, value: unknown) => (key === 'description' ? '' : value)),
  )
}

/** For docs/releases.md (scripts/releases-page.mjs). */
async function writeFacts(capabilities: ReturnType<typeof capabilitiesOf>): Promise<void> {
  const folder = join(root, 'dist', 'releases')
  await mkdir(folder, { recursive: true })
  const facts = {
    ...release,
    commands: asked.filter((command) => capabilities.hasCommand(command)),
    json: asked.filter((command) => capabilities.answersJson(command)),
    discardsSeveral: capabilities.discardsSeveral,
    quirks: quirkNames.filter((name) => hasQuirk(release.version, name)),
  }
  await writeFile(join(folder, `${release.product}-${release.version}.json`), JSON.stringify(facts))
}
