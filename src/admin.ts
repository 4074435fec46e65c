/** `cachefleetd admin set-password|add NAME`: works while the daemon runs, reads standard input (docs/behaviour.md, Programs). */
import { stderr } from 'node:process'
import { ConfigError, type Environment } from '../config/load.js'
import { readSecretLine } from './secret-line.js'
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
    const password = await readSecretLine('New password: ')
    if (password === null) throw new ConfigError('no password was given on standard input')
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
