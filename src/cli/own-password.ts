/** `password`: the own password, by the present one. The coordinator ends all sessions of the account, so a login follows. */
import { usageError } from './cli-error.js'
import { chooseServer } from './connection.js'
import { readSecretFile, readSecretLines } from './given-text.js'
import { beginSession } from './login.js'
import { showText } from './output.js'
import { readNewPassword } from './password.js'
import { promptHidden } from './hidden-prompt.js'
import { changeSession, readSession, sessionFilePath } from './session-file.js'
import { isSet, textFlag, type Invocation } from './verb.js'

interface Passwords {
  readonly old: string
  readonly fresh: string
}

export async function changeOwnPassword(invocation: Invocation): Promise<undefined> {
  const { settings, surroundings, output } = invocation
  const { context, report } = settings
  const api = await invocation.openApi()
  const { old, fresh } = await readPasswords(invocation)
  await api.call({ method: 'PUT', path: '/auth/password', body: { old, new: fresh } })
  const file = sessionFilePath(surroundings.environment)
  const session = await readSession(file, context)
  const server = await chooseServer(settings, surroundings, session)
  const isOwn = session?.server === server.url && !hasToken(surroundings.environment)
  if (isOwn) {
    const { account: user, organization } = session
    const anew = await beginSession(server, { user, organization, password: fresh }, report)
    await changeSession(file, context, () => Promise.resolve(anew))
  }
  const rest = isOwn
    ? 'all other sessions of this account have ended'
    : 'all its sessions have ended'
  showText(output, `the password is changed; ${rest}`, { changed: true })
}

async function readPasswords(invocation: Invocation): Promise<Passwords> {
  const { surroundings } = invocation
  const oldFile = textFlag(invocation, 'old-password-file')
  const freshFile = textFlag(invocation, 'password-file')
  const fromInput = isSet(invocation, 'password-stdin')
  if (freshFile !== undefined && fromInput)
    throw usageError('--password-stdin and --password-file exclude each other')
  if (oldFile !== undefined) {
    const old = await readSecretFile(oldFile, surroundings)
    return { old, fresh: await readNewPassword(invocation, 'New password: ') }
  }
  if (fromInput) {
    const [old = '', fresh = ''] = await readSecretLines(surroundings, 2)
    return { old, fresh }
  }
  if (freshFile !== undefined) {
    // Only a terminal is left to give the present one.
    const fresh = await readSecretFile(freshFile, surroundings)
    return { old: await askPresent(invocation), fresh }
  }
  const old = await askPresent(invocation)
  return { old, fresh: await readNewPassword(invocation, 'New password: ') }
}

function askPresent({ surroundings }: Invocation): Promise<string> {
  if (!surroundings.stdin.isTTY || !surroundings.stderr.isTTY)
    throw usageError('without a terminal --password-stdin or --old-password-file is needed')
  return promptHidden('Present password: ', surroundings)
}

function hasToken(environment: Invocation['surroundings']['environment']): boolean {
  const { CACHEFLEET_TOKEN: token = '', CACHEFLEET_TOKEN_FILE: file = '' } = environment
  return token !== '' || file !== ''
}
