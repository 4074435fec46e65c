/** Opens a coordinator's store for commands run beside the daemon, with the settings and the user of its service. */
import { existsSync } from 'node:fs'
import { ConfigError, type Environment } from '../config/load.js'
import type { Administration } from './coordinator/administration.js'
import { defaultSecretKeyFile, defaultStoreUrl } from './coordinator/places.js'
import { hideArguments } from './hide-arguments.js'
import { createLog } from './log.js'
import { findSqliteFile, loadDatabase } from './coordinator/store/open-store.js'
import { becomeOwner, loadServiceSettings, requireStateDir } from './service-settings.js'

interface ServiceStore {
  readonly administration: Administration
  readonly secretKeyFile: string
}

/** `words`: settings on the command line. Throws ConfigError when there is no store: none is created here. */
export async function openServiceStore(
  words: readonly string[],
  options: { readonly environment: Environment; readonly usage: string },
): Promise<ServiceStore> {
  const loaded = loadServiceSettings('coordinator', words, options)
  hideArguments(loaded.secretFlags)
  const { stateDir, store } = loaded.settings
  const storeUrl = store ?? defaultStoreUrl(stateDir)
  const secretKeyFile = loaded.settings.secretKeyFile ?? defaultSecretKeyFile(stateDir)
  const file = findSqliteFile(storeUrl)
  if (file !== null) requireStateDir('coordinator', loaded)
  const { openAdministration } = await import('./coordinator/administration.js')
  await loadDatabase(storeUrl)
  becomeOwner(stateDir)
  if (file !== null && !existsSync(file))
    throw new ConfigError(
      `there is no store ${file}; --state-dir or --store names the coordinator's`,
    )
  const log = createLog('warn')
  const administration = await openAdministration({ stateDir, storeUrl, secretKeyFile }, log)
  return { administration, secretKeyFile }
}
