/** `cachefleetd restore FILE`: restores a backup for a coordinator that has no state yet (docs/behaviour.md, Backup). */
import { createReadStream } from 'node:fs'
import { chown, open, type FileHandle } from 'node:fs/promises'
import { geteuid, stdout } from 'node:process'
import { ConfigError, type Environment } from '../../config/load.js'
import { defaultSecretKeyFile, defaultStoreUrl } from '../coordinator/places.js'
import { findSqliteFile, loadDatabase } from '../coordinator/store/open-store.js'
import { findHostUser } from '../enroll/host-user.js'
import { hideArguments } from '../hide-arguments.js'
import { becomeOwner, findUnitUser, loadServiceSettings } from '../service-settings.js'
import { openStateDir } from '../state-dir.js'
import { BackupError, openBackup } from './backup-file.js'
import { readBackupWords } from './backup-words.js'
import type { Place } from './collect-parts.js'
import { readPassphrase } from './passphrase.js'
import { restoreParts, requireEmpty, type Restored } from './restore-parts.js'

const usage = `usage: cachefleetd restore FILE [--passphrase-file F] [settings of the daemon]
Brings back what cachefleetd backup wrote, into an empty state directory; the coordinator must not run.
The passphrase is read from F or from standard input. Sessions and join tokens of the backup do not count any more.`

/** Rejects with ConfigError or BackupError, and then leaves no files behind. */
export async function runRestore(
  arguments_: readonly string[],
  environment: Environment,
): Promise<void> {
  const { file, passphraseFile, settings: words } = readBackupWords(arguments_, usage)
  const options = { environment, usage, isNew: true }
  const loaded = loadServiceSettings('coordinator', words, options)
  hideArguments(loaded.secretFlags)
  const { stateDir, store: url } = loaded.settings
  const storeUrl = url ?? defaultStoreUrl(stateDir)
  const storeFile = findSqliteFile(storeUrl)
  if (storeFile === null && storeUrl.startsWith('sqlite:'))
    throw new ConfigError(`${storeUrl} ends with its process: nothing can be restored to it`)
  const place: Place = {
    stateDir,
    storeFile,
    secretKeyFile: loaded.settings.secretKeyFile ?? defaultSecretKeyFile(stateDir),
  }
  await requireEmpty(place)
  const source = await openFile(file)
  try {
    const passphrase = await readPassphrase(passphraseFile, false)
    const bytes = createReadStream('', { fd: source, autoClose: false, highWaterMark: 65_536 })
    const backup = await openBackup(passphrase, bytes)
    // Needed to check the restored store file in the state dir.
    await loadDatabase(defaultStoreUrl(stateDir))
    await makeStateDir(stateDir, loaded.isOwnStateDir)
    becomeOwner(stateDir)
    stdout.write(describe(place, await restoreParts(place, backup), backup.contents.at))
  } finally {
    await source.close()
  }
}

async function openFile(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BackupError(`the backup ${file} cannot be read: ${why}`, { cause })
  }
}

/** systemd creates it on the first start of the service; a restore may run earlier. */
async function makeStateDir(stateDir: string, isOwn: boolean): Promise<void> {
  await openStateDir(stateDir)
  const user = isOwn && geteuid?.() === 0 ? findUnitUser('coordinator') : null
  if (user === null) return
  const { uid, gid } = findHostUser(user, [])
  await chown(stateDir, uid, gid)
}

function describe({ stateDir, storeFile }: Place, { sessions, agents }: Restored, at: string) {
  const head = `the backup of ${at} is restored to ${stateDir}`
  return storeFile === null
    ? `${head}: the secret key and the CA
restore the database with pg_restore before a coordinator starts. Sessions and join tokens that the dump holds count again:
end them (cachefleet sessions list, cachefleet jointokens list)
`
    : `${head}
its sessions and API tokens (${sessions}) and all its join tokens do not count any more: log in again, make new ones
start the coordinator; of its agents (${agents}) those that hold more than the backup knows are Locked then:
cachefleet agents unlock --all --plan tells what an unlock changes on their caches
`
}
