/** Arguments, environment and file → one frozen configuration. The only caller of convict (docs/behaviour.md, Settings). */
import { existsSync } from 'node:fs'
import { hostname, homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import convict from 'convict'
import { addFormats, printValue, readHostPort, type HostPort } from './formats.js'
import { createSchema, type RawSettings, type Schema, type Settings } from './schema.js'
import { readSettingsFile } from './settings-file.js'
import { findSecretFlags } from './secret-flags.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** Invalid configuration: the daemon exits with 78. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export type Loaded =
  | {
      readonly kind: 'run'
      readonly settings: Settings
      /** The state directory is the user's default, because none was set. */
      readonly isOwnStateDir: boolean
      /** Flags whose value contains a password. */
      readonly secretFlags: readonly string[]
    }
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }

const switches = ['help', 'version', 'check-config', 'print-config'] as const

/** `arguments_` without the program's name. Throws ConfigError with the setting and its valid values. */
export function loadConfig(arguments_: readonly string[], environment: Environment): Loaded {
  // An empty variable counts as unset.
  const env = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  ) as Record<string, string>
  const schema = createSchema({ stateDir: defaultStateDir(env), name: defaultName() })
  addFormats(Object.values(schema).map(({ format }) => format))
  const flags = readFlags(arguments_, schema)
  if (flags.help) return { kind: 'help' }
  if (flags.version) return { kind: 'version' }

  const config = createConvict(schema, { ...env, ...nameByVariable(flags.values, schema) })
  const inFile = flags.config === undefined ? [] : loadFile(config, flags.config, schema)
  validate(config, schema)
  const settings = freeze(config.getProperties())
  checkTogether(settings)
  if (flags['print-config']) return { kind: 'print', text: `${config.toString()}\n` }
  if (flags['check-config']) return { kind: 'print', text: 'the configuration is valid\n' }
  return {
    kind: 'run',
    settings,
    secretFlags: findSecretFlags(flags.values, schema),
    isOwnStateDir:
      flags.values['state-dir'] === undefined &&
      env['CACHEFLEET_STATE_DIR'] === undefined &&
      env['STATE_DIRECTORY'] === undefined &&
      !inFile.includes('stateDir'),
  }
}

/** The table that `--help` prints: flag, variable, default, meaning. */
export function describeSettings(environment: Environment): string {
  const schema = createSchema({
    stateDir: defaultStateDir(environment),
    name: defaultName(),
  })
  return Object.values(schema)
    .map((setting) => {
      const names = [setting.arg === undefined ? undefined : `--${setting.arg}`, setting.env]
      const initial: unknown = setting.default
      const unit = setting.unit === undefined ? '' : ` ${setting.unit}`
      const shown = initial === null ? 'none' : `${printValue(initial)}${unit}`
      return `  ${names.filter(Boolean).join(', ')}\n      ${setting.doc ?? ''} (default: ${shown})`
    })
    .join('\n')
}

type Flags = Partial<Record<(typeof switches)[number], boolean>> & {
  readonly config?: string
  /** Keyed by flag, without the dashes. */
  readonly values: Readonly<Record<string, string>>
}

function readFlags(arguments_: readonly string[], schema: Schema): Flags {
  const options: Record<string, { type: 'boolean' | 'string' }> = { config: { type: 'string' } }
  for (const name of switches) options[name] = { type: 'boolean' }
  for (const { arg, format } of Object.values(schema))
    if (typeof arg === 'string') options[arg] = { type: format === 'flag' ? 'boolean' : 'string' }
  let values: Record<string, string | boolean | undefined>
  try {
    values = parseArgs({
      args: [...arguments_],
      options,
      strict: true,
      allowPositionals: false,
    }).values // no option is `multiple`
  } catch (error) {
    throw new ConfigError(`${error instanceof Error ? error.message : String(error)} (see --help)`)
  }
  const own = new Set<string>([...switches, 'config'])
  const config = values['config']
  return {
    ...Object.fromEntries(switches.map((name) => [name, values[name] === true])),
    ...(typeof config === 'string' ? { config } : {}),
    values: Object.fromEntries(
      Object.entries(values)
        .filter(([name]) => !own.has(name))
        .map(([name, value]) => [name, String(value)]),
    ),
  }
}

/** Passes flags as variables: convict reads those as text, but would turn --name 1e3 into 1000. */
function nameByVariable(flags: Flags['values'], schema: Schema): Record<string, string> {
  const given: Record<string, string> = {}
  for (const { arg, env } of Object.values(schema)) {
    const value = typeof arg === 'string' ? flags[arg] : undefined
    if (value !== undefined && env !== undefined) given[env] = value
  }
  return given
}

function createConvict(schema: Schema, env: Record<string, string>) {
  try {
    return convict<RawSettings>(schema, { env, args: [] })
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error))
  }
}

/** Returns the names of the settings in the file. */
function loadFile(
  config: convict.Config<RawSettings>,
  file: string,
  schema: Schema,
): readonly string[] {
  if (!existsSync(file)) throw new ConfigError(`--config: there is no file ${file}`)
  try {
    const values = readSettingsFile(file, schema)
    config.load(values)
    return Object.keys(values)
  } catch (error) {
    throw new ConfigError(
      `--config: ${file}: ${error instanceof Error ? error.message : 'unreadable'}`,
    )
  }
}

function validate(config: convict.Config<RawSettings>, schema: Schema): void {
  try {
    config.validate({ allowed: 'strict' })
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    throw new ConfigError(text.split('\n').map(nameFlag).join('\n'))
  }

  /** convict names the setting; users know it by its flag. */
  function nameFlag(line: string): string {
    const name = /^(\w+): /.exec(line)?.[1]
    const flag = name !== undefined && name in schema ? schema[name as keyof Schema].arg : undefined
    return flag ? `${line} (--${flag})` : line
  }
}

function checkTogether(settings: Settings): void {
  if ((settings.tlsCert === null) !== (settings.tlsKey === null))
    throw new ConfigError('tlsCert and tlsKey: set both (--tls-cert and --tls-key) or neither')
  if (settings.tls === 'off' && settings.tlsCert !== null)
    throw new ConfigError(
      'tls: it is off, and tlsCert names a certificate; leave out one of them (--tls, --tls-cert)',
    )
  if (settings.adoptGroup !== null && settings.takeover !== 'adopt')
    throw new ConfigError(
      `adoptGroup: it names the group of what is adopted, and takeover is ${settings.takeover}; set --takeover adopt too (--adopt-group)`,
    )
  if (settings.noAgent && !settings.coordinator && settings.simulate === 0)
    throw new ConfigError(
      'noAgent: nothing is left to run; add --coordinator or --simulate N (--no-agent)',
    )
}

function freeze(raw: RawSettings): Settings {
  return Object.freeze({
    ...raw,
    stateDir: resolve(raw.stateDir),
    listen: toAddress(raw.listen),
    publicUrl: raw.publicUrl === null ? null : new URL(raw.publicUrl).origin,
    engineAddress: toAddress(raw.engineAddress),
    engineHttp: toAddress(raw.engineHttp),
    metricsListen: raw.metricsListen === null ? null : toAddress(raw.metricsListen),
    healthListen: raw.healthListen === null ? null : toAddress(raw.healthListen),
  })
}

function toAddress(text: string): HostPort {
  const address = readHostPort(text)
  if (!address) throw new ConfigError(`${text} is not HOST:PORT`)
  return address
}

/** systemd's STATE_DIRECTORY, else the user's state home (docs/behaviour.md, Settings). */
function defaultStateDir(env: Environment): string {
  const systemd = env['STATE_DIRECTORY']?.split(':')[0]
  if (systemd) return systemd
  return join(env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state'), 'cachefleet')
}

/** The host's name, with other characters replaced by `-`. */
function defaultName(): string {
  return (
    hostname()
      .replaceAll(/[^A-Za-z0-9-]/g, '-')
      .slice(0, 52) || 'agent'
  )
}
