/** `cachefleetd admin set-password|add NAME`: works while the daemon runs, reads standard input (choices: 1). */
import { stdin, stderr } from 'node:process'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { ConfigError, loadConfig, type Environment } from '../config/load.js'
import { defaultStoreUrl } from './coordinator/places.js'
import { hideArguments } from './hide-arguments.js'
import { createLog } from './log.js'

const usage = 'usage: cachefleetd admin set-password|add NAME [settings of the daemon]'

export async function runAdmin(
  arguments_: readonly string[],
  environment: Environment,
): Promise<void> {
  const [verb, name, ...settingWords] = arguments_
  const isVerb = verb === 'set-password' || verb === 'add'
  if (!isVerb || name === undefined || name.startsWith('--')) throw new ConfigError(usage)
  const loaded = loadConfig(settingWords, environment)
  if (loaded.kind !== 'run') throw new ConfigError(usage)
  hideArguments(loaded.telltaleFlags)
  const password = await readPassword()
  const { openAdministration } = await import('./coordinator/administration.js')
  const { stateDir, store } = loaded.settings
  const log = createLog('warn', { pretty: false })
  const administration = await openAdministration(
    { stateDir, storeUrl: store ?? defaultStoreUrl(stateDir) },
    log,
  )
  try {
    if (verb === 'add') await administration.addAdministrator(name, password)
    else await administration.setPassword(name, password)
  } finally {
    await administration.close()
  }
  stderr.write(
    verb === 'add'
      ? `${name} is a system administrator\n`
      : `the password of ${name} is set; its sessions have ended\n`,
  )
}

/** The first line of standard input; on a terminal it is asked for and not shown. */
async function readPassword(): Promise<string> {
  const isTerminal = stdin.isTTY
  if (isTerminal) stderr.write('New password: ')
  const nowhere = new Writable({
    write: (_chunk, _encoding, done) => {
      done()
    },
  })
  const lines = createInterface({ input: stdin, output: nowhere, terminal: isTerminal })
  try {
    for await (const line of lines) return line
    throw new ConfigError('no password was given on standard input')
  } finally {
    lines.close()
    if (isTerminal) stderr.write('\n')
  }
}
