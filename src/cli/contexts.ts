/** `contexts list|use|delete`: reads and changes the logins on this machine; makes no call to a coordinator. */
import { CliError, exitCodes } from './cli-error.js'
import { confirm } from './confirm.js'
import { writeContextInUse } from './context-in-use.js'
import { showList, showText } from './output.js'
import { changeSession, readSessions, sessionFilePath, type Session } from './session-file.js'
import { word, type Invocation } from './verb.js'

const columns = [
  { field: 'name' },
  { field: 'inUse', title: 'in use' },
  { field: 'server' },
  { field: 'account' },
  { field: 'organization' },
  { field: 'refreshExpire', title: 'ends' },
]

export async function listContexts(invocation: Invocation): Promise<undefined> {
  const { settings, system, output } = invocation
  const sessions = await readSessions(sessionFilePath(system.environment))
  const rows = [...sessions].map(([name, { server, account, organization, refreshExpire }]) => ({
    name,
    inUse: name === settings.context,
    server,
    account,
    organization,
    refreshExpire,
  }))
  await showList(output, rows, columns)
  if (rows.length === 0) output.notify('No login; log in with `cachefleet login`')
}

export async function takeContext(invocation: Invocation): Promise<undefined> {
  const { environment } = invocation.system
  const name = word(invocation, 0)
  const { server, account } = await findLogin(invocation, name)
  await writeContextInUse(environment, name)
  showText(invocation.output, `${name} is in use: ${account} at ${server}`, {
    name,
    server,
    account,
  })
}

export async function forgetContexts(invocation: Invocation): Promise<undefined> {
  const { settings, system, words } = invocation
  const { environment } = system
  for (const name of words) await findLogin(invocation, name)
  const names = words.map((name) => JSON.stringify(name)).join(', ')
  await confirm(invocation, `delete the login ${names}`)
  for (const name of words) {
    await changeSession(sessionFilePath(environment), name, () => Promise.resolve(null))
    if (name === settings.context) await writeContextInUse(environment, null)
  }
}

async function findLogin({ system }: Invocation, name: string): Promise<Session> {
  const sessions = await readSessions(sessionFilePath(system.environment))
  const session = sessions.get(name)
  if (session) return session
  const known = sessions.size === 0 ? 'none' : [...sessions.keys()].join(', ')
  throw new CliError(
    exitCodes.refused,
    `There is no login for context ${JSON.stringify(name)}; there are: ${known}`,
  )
}
