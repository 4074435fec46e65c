/** `cachefleetd admin set-password|add NAME`: works while the daemon runs, reads standard input (docs/behaviour.md, Programs). */
import { stdin, stderr } from 'node:process'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { ConfigError, type Environment } from '../config/load.js'
import { openServiceStore } from './service-store.js'

const usage = 'usage: cachefleetd admin set-password|add NAME [settings of the daemon]'

export async function runAdmin(
  arguments_: readonly string[],
  environment: Environment,
): Promise<void> {
  const [verb, name, ...settingWords] = arguments_
  const isVerb = verb === 'set-password' || verb === 'add'
  if (!isVerb || name === undefined || name.startsWith('--')) throw new ConfigError(usage)
  const { administration } = await openServiceStore(settingWords, { environment, usage })
  try {
    const password = await readPassword()
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
