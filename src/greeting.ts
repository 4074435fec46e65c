/** The message for a user who started a coordinator by hand: its address, how to log in, the next commands. */
import type { FirstAdministrator } from './coordinator/identity/first-administrator.js'

interface Greeted {
  readonly address: string
  readonly stateDir: string
  readonly administrator: FirstAdministrator | null
  /** The command that runs the client from here. */
  readonly client: string
}

export function describeGreeting({ address, stateDir, administrator, client }: Greeted): string {
  const user = administrator?.name ?? 'admin'
  const file = administrator?.passwordFile ?? `${stateDir}/admin-password`
  const password = administrator?.passwordToShow
  const login =
    administrator?.passwordFile === null
      ? `${client} login --server ${address} --user ${user}`
      : `${client} login --server ${address} --user ${user} --password-file ${file}`
  return [
    '',
    `cachefleet runs at ${address} (API documentation: ${address}/docs/index.html)`,
    ...(password ? [`First administrator: ${user}, password ${password} (also in ${file})`] : []),
    '',
    'Next:',
    `  ${login}`,
    `  ${client} agents list`,
    `  ${client} files add main.vcl`,
    '',
    'Ctrl-C stops it.',
    '',
  ].join('\n')
}
