/** `cachefleetd backup FILE`: backs up a running coordinator into one encrypted file (docs/behaviour.md, Backup). */
import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pid, stdout } from 'node:process'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ConfigError, type Environment } from '../../config/load.js'
import { findSqliteFile } from '../coordinator/store/open-store.js'
import { loadSqlite } from '../coordinator/store/sqlite.js'
import { defaultSecretKeyFile, defaultStoreUrl } from '../coordinator/places.js'
import { hideArguments } from '../hide-arguments.js'
import { syncFolder } from '../runtime/durable-file.js'
import { actAsOwner, loadServiceSettings, requireStateDir } from '../service-settings.js'
import { version } from '../version.js'
import { BackupError, sealBackup, type BackupContents } from './backup-file.js'
import { readBackupWords } from './backup-words.js'
import { collectParts, type Place, type Part } from './collect-parts.js'
import { readPassphrase } from './passphrase.js'

const usage = `usage: cachefleetd backup FILE [--passphrase-file F] [settings of the daemon]
Writes the coordinator's store (SQLite), secret key and CA to FILE, encrypted; the coordinator may run.
The passphrase is read from F or from standard input. cachefleetd restore FILE brings them back.`

/** Rejects with ConfigError or BackupError, and then leaves FILE unchanged. */
export async function runBackup(
  arguments_: readonly string[],
  environment: Environment,
): Promise<void> {
  const { file, passphraseFile, settings: words } = readBackupWords(arguments_, usage)
  const loaded = loadServiceSettings('coordinator', words, { environment, usage })
  hideArguments(loaded.secretFlags)
  requireStateDir('coordinator', loaded)
  const { stateDir, store: url } = loaded.settings
  const storeUrl = url ?? defaultStoreUrl(stateDir)
  const place: Place = {
    stateDir,
    storeFile: findSqliteFile(storeUrl),
    secretKeyFile: loaded.settings.secretKeyFile ?? defaultSecretKeyFile(stateDir),
  }
  if (place.storeFile === null && storeUrl.startsWith('sqlite:'))
    throw new ConfigError(`${storeUrl} ends with its process: there is nothing to back up`)
  const passphrase = await readPassphrase(passphraseFile, true)
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      ending.abort(new BackupError('interrupted: nothing was written'))
    })
  const parts = await backUp(place, { file, passphrase, signal: ending.signal })
  stdout.write(describe(file, parts, storeUrl))
  process.exit(0)
}

interface Target {
  readonly file: string
  readonly passphrase: string
  readonly signal: AbortSignal
}

async function backUp(place: Place, target: Target): Promise<readonly Part[]> {
  loadSqlite()
  const { stateDir } = place
  const { parts, release } = await actAsOwner(stateDir, () => collectParts(place))
  try {
    const contents: BackupContents = {
      version,
      at: new Date().toISOString(),
      store: place.storeFile === null ? 'postgres' : 'sqlite',
      parts: parts.map(({ name, bytes }) => ({ name, bytes })),
    }
    await writeFile(target, sealBackup(target.passphrase, contents, readAll(parts)))
    return parts
  } finally {
    await actAsOwner(stateDir, release)
  }
}

async function* readAll(parts: readonly Part[]): AsyncGenerator<Buffer> {
  for (const { read } of parts) yield* read()
}

/** Writes to a temporary file first, so that a file of that name is always a complete backup. */
async function writeFile({ file, signal }: Target, content: AsyncGenerator<Buffer>): Promise<void> {
  const draft = `${file}.${pid}.new`
  try {
    await rm(draft, { force: true })
    // Exclusive: never follows links that others created there.
    const handle = await open(draft, 'wx', 0o600)
    await pipeline(Readable.from(content), createWriteStream('', { fd: handle, flush: true }), {
      signal,
    })
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    signal.throwIfAborted()
    const why = error instanceof Error ? error.message : String(error)
    throw new BackupError(`the backup ${file} cannot be written: ${why}`, { cause: error })
  }
  await syncFolder(dirname(file))
}

function describe(file: string, parts: readonly Part[], storeUrl: string): string {
  const names = { store: 'the store', secretKey: 'the secret key', ca: 'the CA' }
  const listed = new Intl.ListFormat('en').format(parts.map(({ name }) => names[name]))
  const first = `${file} has ${listed}, encrypted: keep the passphrase elsewhere\n`
  return parts.some(({ name }) => name === 'store')
    ? first
    : `${first}the store is PostgreSQL; back it up beside this file:\n  ${describeDump(storeUrl)}\n`
}

/** Omits the password, which pg_dump takes from ~/.pgpass or PGPASSWORD. */
function describeDump(storeUrl: string): string {
  const url = new URL(storeUrl)
  url.password = ''
  return `pg_dump --format=custom --file=cachefleet.dump '${url.href.replaceAll("'", '%27')}'`
}
