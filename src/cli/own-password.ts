/** `password`: changes the caller's own password. The coordinator ends all sessions of the account, so a new login follows. */
import { CliError, exitCodes, usageError } from './cli-error.js'
import { chooseServer } from './connection.js'
import { readSecretFile, readSecretLines } from './given-text.js'
import { beginSession } from './login.js'
import { showText } from './output.js'
import { askHidden, readNewPassword } from './password.js'
import { changeSession, readSession, sessionFilePath } from './session-file.js'
import { isSet, textFlag, type Invocation } from './verb.js'

interface Passwords {
  readonly old: string
  readonly fresh: string
}

export async function changeOwnPassword(invocation: Invocation): Promise<undefined> {
  const { settings, system, output } = invocation
  const { context, report } = settings
  const api = await invocation.openApi()
  const { old, fresh } = await readPasswords(invocation)
  await api.call({ method: 'PUT', path: '/auth/password', body: { old, new: fresh } })
  const file = sessionFilePath(system.environment)
  const session = await readSession(file, context)
  const server = await chooseServer(settings, system, session)
  const isOwn = session?.server === server.url && !hasToken(system.environment)
  if (isOwn) {
    const { account: user, organization } = session
    const person = { user, organization, password: fresh }
    const anew = await beginSession(server, person, report).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      throw new CliError(exitCodes.denied, `The password is changed, log in with it: ${reason}`)
    })
    await changeSession(file, context, () => Promise.resolve(anew))
  }
  const rest = isOwn
    ? 'all other sessions of this account have ended'
    : 'all its sessions have ended'
  showText(output, `the password is changed; ${rest}`, { changed: true })
}

async function readPasswords(invocation: Invocation): Promise<Passwords> {
  const { system } = invocation
  const oldFile = textFlag(invocation, 'old-password-file')
  const isPiped = isSet(invocation, 'password-stdin') && oldFile === undefined
  if (isPiped && textFlag(invocation, 'password-file') === undefined) {
    const [old = '', fresh = ''] = await readSecretLines(system, 2)
    return { old, fresh }
  }
  const old =
    oldFile === undefined ? await askPresent(invocation) : await readSecretFile(oldFile, system)
  return { old, fresh: await readNewPassword(invocation, 'New password: ') }
}

function askPresent({ system }: Invocation): Promise<string> {
  if (!system.stdin.isTTY || !system.stderr.isTTY)
    throw usageError('Without a terminal --password-stdin or --old-password-file is needed')
  return askHidden('Current password: ', system)
}

function hasToken(environment: Invocation['system']['environment']): boolean {
  const { CACHEFLEET_TOKEN: token = '', CACHEFLEET_TOKEN_FILE: file = '' } = environment
  return token !== '' || file !== ''
}
