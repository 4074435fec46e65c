/** The daemon: settings, roles, signals, exit codes (docs/behaviour.md, Programs). */
import type { Logger } from 'pino'
import {
  ConfigError,
  describeSettings,
  loadConfig,
  type Environment,
  type Loaded,
} from '../config/load.js'
import { FleetError } from './errors.js'
import { describeGreeting } from './greeting.js'
import { hideArguments } from './hide-arguments.js'
import { createLog, openTerminal } from './log.js'
import { startRoles, type RunningRoles } from './roles.js'
import { createServiceManager } from './service-manager.js'
import { version } from './version.js'

/** docs/behaviour.md, Settings: bad configuration. */
const badConfiguration = 78
/** docs/behaviour.md, Shutdown: graceful within 10 s. */
const stopTimeoutMs = 9_500

const usage = `Usage: cachefleetd [--coordinator] [settings]
       cachefleetd admin set-password NAME      (reads the password from standard input)
       cachefleetd admin add NAME               (adds a system administrator; reads its password likewise)
       cachefleetd secret rotate|reset          (makes a new key for the secrets in the store; reset when the key is lost)
       cachefleetd tls show|renew|export        (the certificate of this coordinator, and its CA)
       cachefleetd enroll URL                   (enrols this host's cache, as a service; reads the join token from standard input)
       cachefleetd backup FILE                  (saves the coordinator's store and keys, encrypted, while it runs)
       cachefleetd restore FILE                 (restores such a file into an empty state directory)
       cachefleetd migrate --from sqlite:FILE --to postgres://…   (copies a store into an empty database, while no coordinator runs)
       cachefleetd doctor [--json]              (checks that this host is fit for an agent and a coordinator)
       cachefleetd rollback [NUMBER | --list]   (takes this host's cache back to an earlier good state)

Runs an agent beside a cache; with --coordinator the coordinator and a local agent on a private cache.

  --config FILE    JSON or YAML with settings by name
  --check-config   check the settings and stop
  --print-config   print the settings, secrets masked, and stop
  --help, --version

Settings: flag, variable, meaning. A flag wins over a variable, a variable over the file.
`

interface Command {
  readonly load: () => Promise<
    (words: readonly string[], environment: Environment) => Promise<void>
  >
  /** Its output is read, and the reader may close the pipe early. */
  readonly isRead?: true
}

const commands: Readonly<Record<string, Command>> = {
  admin: { load: async () => (await import('./admin.js')).runAdmin },
  secret: { load: async () => (await import('./secret.js')).runSecret },
  backup: { load: async () => (await import('./backup/run-backup.js')).runBackup },
  restore: { load: async () => (await import('./backup/run-restore.js')).runRestore },
  migrate: { load: async () => (await import('./migrate.js')).runMigrate },
  enroll: { load: async () => (await import('./enroll/run-enroll.js')).runEnroll },
  doctor: { load: async () => (await import('./doctor/run-doctor.js')).runDoctor, isRead: true },
  tls: { load: async () => (await import('./tls.js')).runTls, isRead: true },
  rollback: { load: async () => (await import('./rollback.js')).runRollback, isRead: true },
}

const [, , ...words] = process.argv
/** Resolves when the daemon runs or the command has finished. */
export const done = main(words, process.env).catch((error: unknown) => {
  process.stderr.write(`cachefleetd: ${error instanceof Error ? error.message : String(error)}\n`)
  // Exits at once: a start that failed midway may have left timers and listeners, and the parent process needs the exit code.
  process.exit(exitCodeOf(error))
})

async function main(arguments_: readonly string[], environment: Environment): Promise<void> {
  const word = arguments_.includes('--help') ? '--help' : (arguments_[0] ?? '')
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined
  if (command) {
    if (command.isRead) endWhenUnread()
    const runCommand = await command.load()
    await runCommand(arguments_.slice(1), environment)
    return
  }
  const loaded = loadConfig(word === '--help' ? [word] : arguments_, environment)
  if (loaded.kind !== 'run') endWhenUnread()
  if (loaded.kind === 'help') process.stdout.write(`${usage}\n${describeSettings(environment)}\n`)
  else if (loaded.kind === 'version')
    process.stdout.write(`cachefleetd ${version} (Node ${process.versions.node})\n`)
  else if (loaded.kind === 'print') process.stdout.write(loaded.text)
  else {
    hideArguments(loaded.secretFlags)
    await run(loaded, { arguments: arguments_, environment })
  }
}

/** The reader of the output may close the pipe early, as `head` does. */
function endWhenUnread(): void {
  process.stdout.on('error', (error: Error & { readonly code?: string }) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

interface Invocation {
  readonly arguments: readonly string[]
  readonly environment: Environment
}

async function run(
  { settings, secretFlags }: Extract<Loaded, { kind: 'run' }>,
  invocation: Invocation,
): Promise<void> {
  const { environment } = invocation
  const stdoutIsTerminal = process.stdout.isTTY
  const terminal = stdoutIsTerminal ? await openTerminal() : undefined
  const log = createLog(settings.logLevel, terminal)
  for (const flag of secretFlags)
    log.warn(
      { flag },
      `everybody on this host could read the password in ${flag}: set it by its variable (--help) or in the --config file`,
    )
  const manager = createServiceManager(environment['NOTIFY_SOCKET'], log)
  const searchPath = environment['PATH'] ?? ''
  const starting = startRoles(settings, log, { searchPath, stdoutIsTerminal })
  const signals = handleSignals({ starting, log, invocation, stopping: manager.stopping })
  const roles = await starting
  if (signals.isEnding()) return
  manager.ready(settings.coordinator ? 'coordinator is ready' : 'agent is running')
  const byHand = stdoutIsTerminal || environment['npm_lifecycle_event'] === 'start'
  if (roles.coordinator && byHand)
    process.stderr.write(
      describeGreeting({
        address: roles.coordinator.address,
        stateDir: settings.stateDir,
        administrator: roles.coordinator.firstAdministrator,
        client:
          environment['npm_lifecycle_event'] === 'start' ? 'dist/bin/cachefleet' : 'cachefleet',
      }),
    )
}

interface Running {
  /** Signals are handled after the start has completed: an interrupted start would leave a private cache behind. */
  readonly starting: Promise<RunningRoles>
  readonly log: Logger
  readonly invocation: Invocation
  readonly stopping: () => void
}

function handleSignals({ starting, log, invocation, stopping }: Running): {
  readonly isEnding: () => boolean
} {
  let ending = false
  const end = (signal: NodeJS.Signals): void => {
    if (ending) return
    ending = true
    log.info({ signal }, 'stopping')
    stopping()
    setTimeout(() => {
      log.error('stopping took too long')
      process.exit(1)
    }, stopTimeoutMs).unref()
    starting
      .then((roles) => roles.stop())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'stopping failed')
          process.exit(1)
        },
      )
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  process.on('SIGHUP', () => {
    starting
      .then((roles) => reload(roles, log, invocation))
      .catch((error: unknown) => {
        log.error({ err: error }, 'reloading failed: what was, stays')
      })
  })
  return { isEnding: () => ending }
}

/** Reloads certificates, secret key and log level; join tokens are read at each use. */
async function reload(roles: RunningRoles, log: Logger, invocation: Invocation): Promise<void> {
  const loaded = loadConfig(invocation.arguments, invocation.environment)
  if (loaded.kind === 'run') log.level = loaded.settings.logLevel
  await roles.reload()
  log.info('reloaded')
}

function exitCodeOf(error: unknown): number {
  const isSetting = error instanceof FleetError && error.kind === 'invalid'
  return error instanceof ConfigError || isSetting ? badConfiguration : 1
}
