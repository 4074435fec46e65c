/**
 * `cachefleetd rollback [NUMBER] | --list`: returns the cache on an agent's host to a good state that the agent keeps
 * (docs/behaviour.md, Saved state). The running agent performs it, even without a coordinator.
 */
import { stdout } from 'node:process'
import { join } from 'node:path'
import { ConfigError, type Environment } from '../config/load.js'
import { describeServing, readGoodStates } from './agent/apply/good-states.js'
import { requestRollback } from './agent/apply/rollback-requests.js'
import { becomeOwner, loadServiceSettings, requireStateDir } from './service-settings.js'

const usage = `usage: cachefleetd rollback [NUMBER | --list] [settings of the daemon]
Without a number: the newest good state in which the cache served something else.`

/** One load may take 120 s (docs/behaviour.md, Deploy); an agent that is not running never answers. */
const answerTimeMs = 150_000

/** Rejects when the rollback was not done. */
export async function runRollback(
  arguments_: readonly string[],
  environment: Environment,
): Promise<void> {
  const [word = ''] = arguments_
  const wanted = readWanted(word)
  const words = wanted === null ? arguments_ : arguments_.slice(1)
  const loaded = loadServiceSettings('agent', words, { environment, usage })
  const { stateDir } = loaded.settings
  requireStateDir('agent', loaded)
  becomeOwner(stateDir)
  if (wanted === 'list') await listStates(stateDir)
  else await rollBack(stateDir, wanted)
}

/** Null: the newest state in which the cache served something else. */
function readWanted(word: string): number | 'list' | null {
  if (word === '--list') return 'list'
  if (/^\d{1,9}$/.test(word)) return Number(word)
  if (word === '' || word.startsWith('--')) return null
  throw new ConfigError(usage)
}

async function rollBack(stateDir: string, number: number | null): Promise<void> {
  const good = await readGoodStates(join(stateDir, 'history'))
  if (good.length === 0) throw new Error(`no good state is kept in ${stateDir}`)
  const answer = await requestRollback(stateDir, number, answerTimeMs)
  if (!answer)
    throw new Error(
      `the agent of ${stateDir} has not answered: it does not run, or its cache is busy; the rollback is done when it can be`,
    )
  if (!answer.done) throw new Error(answer.message)
  stdout.write(
    `${answer.message}\nthe agent is locked: it keeps this state until it is unlocked (cachefleet agents unlock NAME)\n`,
  )
}

/** Newest first. */
async function listStates(stateDir: string): Promise<void> {
  const good = await readGoodStates(join(stateDir, 'history'))
  if (good.length === 0) throw new Error(`no good state is kept in ${stateDir}`)
  for (const { number, at, record } of good.toReversed())
    stdout.write(`${number}  ${new Date(at).toISOString()}  ${describeServing(record)}\n`)
}
