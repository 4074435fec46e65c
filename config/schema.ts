/**
 * Every setting of the daemon: meaning, unit, format, default, variable and flag (docs/behaviour.md, Settings). `cachefleetd
 * --help` prints this table.
 */
import type convict from 'convict'
import type { HostPort } from './formats.js'

/** Defaults that depend on the host, set when the schema is created. */
interface HostDefaults {
  readonly stateDir: string
  readonly name: string
}

export interface Settings {
  readonly coordinator: boolean
  readonly noAgent: boolean
  readonly readOnly: boolean
  readonly stateDir: string
  readonly listen: HostPort
  readonly apis: readonly string[]
  readonly tls: 'auto' | 'off'
  readonly tlsCert: string | null
  readonly tlsKey: string | null
  readonly tlsNames: readonly string[]
  readonly store: string | null
  readonly bus: string
  readonly coordinatorUrl: string
  readonly coordinatorCa: string | null
  readonly joinToken: string | null
  readonly joinTokenFile: string | null
  readonly name: string
  readonly tags: readonly string[]
  readonly engine: 'attach' | 'spawn' | 'simulate' | null
  readonly engineAddress: HostPort
  readonly engineSecretFile: string | null
  readonly engineName: string | null
  readonly engineHttp: HostPort
  readonly engineProgram: string | null
  readonly tenantCompile: string
  readonly tests: boolean | null
  readonly counters: readonly string[]
  readonly metricsListen: HostPort | null
  readonly healthListen: HostPort | null
  readonly maskHeaders: readonly string[]
  readonly maskQuery: boolean
  readonly sampleRate: number
  readonly tlsDir: string | null
  readonly heartbeat: number
  readonly statsInterval: number
  readonly statsArchives: number
  readonly takeover: 'registration' | 'first-deploy' | 'adopt'
  readonly adoptGroup: string | null
  readonly warmup: number
  readonly publicUrl: string | null
  readonly trustedProxies: readonly string[]
  readonly connectionsPerAddress: number
  readonly secretKeyFile: string | null
  readonly vmods: readonly string[]
  readonly includes: readonly string[]
  readonly apilogDays: number
  readonly webhookNetworks: readonly string[]
  readonly licenseKey: string | null
  readonly simulate: number
  readonly simulateCompileMs: number
  readonly simulateTls: boolean
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error'
  readonly adminUser: string | null
  readonly adminPassword: string | null
}

/** As convict stores them: addresses are text. */
export type RawSettings = {
  readonly [K in keyof Settings]: Settings[K] extends HostPort
    ? string
    : HostPort extends Settings[K]
      ? string | null
      : Settings[K]
}
type SettingSchema = convict.SchemaObj & { readonly unit?: string }
export type Schema = { readonly [K in keyof Settings]: SettingSchema }

/** A setting without its flag and variable, which are derived from its name. */
interface Description extends Pick<SettingSchema, 'doc' | 'format' | 'default' | 'unit'> {
  /** Not printed, and has no flag: secrets are never passed as flags. */
  readonly isSecret?: true
  /** May contain a password, so it is not printed. */
  readonly sensitive?: true
}

export function createSchema(defaults: HostDefaults): Schema {
  const descriptions: Readonly<Record<keyof Settings, Description>> = {
    ...roleSettings(defaults),
    ...coordinatorSettings,
    ...agentSettings(defaults),
    ...engineSettings,
    ...simulationSettings,
  }
  const named = Object.entries(descriptions).map(([name, it]) => [name, toSetting(name, it)])
  return Object.fromEntries(named) as Schema // the same names
}

/** `statsInterval` has the flag `--stats-interval` and the variable `CACHEFLEET_STATS_INTERVAL`. */
function toSetting(name: string, { isSecret, ...description }: Description): SettingSchema {
  const words = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return {
    ...description,
    nullable: description.default === null,
    env: `CACHEFLEET_${words.toUpperCase().replaceAll('-', '_')}`,
    ...(isSecret ? { sensitive: true } : { arg: words }),
  }
}

function setting(
  doc: string,
  format: unknown,
  initial: unknown,
  more: Pick<Description, 'unit' | 'sensitive'> = {},
): Description {
  // One of the formats in formats.ts, or a list of words.
  return { doc, format: format as convict.SchemaObj['format'], default: initial, ...more }
}

function secret(doc: string): Description {
  return { doc, format: 'text', default: null, isSecret: true }
}

function roleSettings({ stateDir }: HostDefaults) {
  return {
    coordinator: setting('run the coordinator, with a local agent', 'flag', false),
    noAgent: setting('coordinator without the local agent', 'flag', false),
    stateDir: setting('everything kept on disk', 'text', stateDir),
    logLevel: setting('how much is logged', ['trace', 'debug', 'info', 'warn', 'error'], 'info'),
  }
}

const coordinatorSettings = {
  listen: setting("the coordinator's one HTTP(S) listener", 'host-port', '127.0.0.1:8002'),
  apis: setting('which APIs are served', 'apis', ['controller', 'console']),
  tls: setting(
    'auto: a listener that is not on loopback and has no certificate makes one, and a CA for it; off: it speaks no TLS, for a proxy in front that does',
    ['auto', 'off'],
    'auto',
  ),
  tlsCert: setting('certificate (PEM file) for HTTPS and WSS', 'text', null),
  tlsKey: setting('key (PEM file) of the certificate', 'text', null),
  tlsNames: setting(
    "further host names and addresses in the certificate that --tls auto makes, beside the host's and that of --public-url",
    'host-names',
    [],
  ),
  store: setting(
    'sqlite:PATH or postgres://…; without it a file in the state dir; with a password not by the flag, which everybody on the host can read',
    'store',
    null,
    { sensitive: true },
  ),
  bus: setting(
    'in-process, or nats://… between several coordinators of one PostgreSQL store; with a password not by the flag',
    'bus',
    'in-process',
    { sensitive: true },
  ),
  heartbeat: setting('time between heartbeats of agents', '1..3600', 5, { unit: 's' }),
  statsInterval: setting('time between samples of counters on agents', '1..60', 10, {
    unit: 's',
  }),
  statsArchives: setting(
    'how many archives of samples are kept, the finest first; each reaches back 1.6 times as long as the one before',
    '1..16',
    16,
  ),
  publicUrl: setting(
    'address at which browsers and identity providers reach the coordinator; without it that of the listener',
    'web-origin',
    null,
  ),
  trustedProxies: setting('addresses or networks whose forwarded addresses count', 'networks', []),
  connectionsPerAddress: setting(
    'open connections of one address (IPv6: /64), links of agents apart; not counted for loopback and --trusted-proxies',
    '1..40000',
    1000,
  ),
  secretKeyFile: setting(
    'seals recoverable secrets in the store; made when missing; the same on all coordinators',
    'text',
    null,
  ),
  vmods: setting('modules that VCL of organizations may import', 'list', ['std', 'directors']),
  includes: setting("names of the cache's own VCL that may be included", 'list', []),
  webhookNetworks: setting(
    "networks that webhooks of every organization may call, over http too; without it only the system administrator's may call private networks",
    'networks',
    [],
  ),
  apilogDays: setting('how long API log entries are kept', '1..3650', 7, { unit: 'days' }),
  licenseKey: setting(
    'Ed25519 public key (PEM file) of console licenses; without it none is checked',
    'text',
    null,
  ),
  adminUser: secret('name of the first administrator, on an empty store'),
  adminPassword: secret('password of the first administrator'),
}

function agentSettings({ name }: HostDefaults) {
  return {
    readOnly: setting('the agent reads and never changes its cache', 'flag', false),
    coordinatorUrl: setting(
      'the coordinator to connect to; several of one store are separated by commas',
      'websocket-urls',
      'ws://127.0.0.1:8002',
    ),
    coordinatorCa: setting("CA (PEM file) of the coordinator's certificate", 'text', null),
    joinToken: secret('first enrolment; afterwards the agent has its own key'),
    joinTokenFile: setting('file with the join token', 'text', null),
    name: setting('agent name, unique', 'name', name),
    tags: setting('static tags', 'tags', []),
    takeover: setting(
      'when existing VCL is unloaded; adopt: what runs becomes a deployed root group',
      ['registration', 'first-deploy', 'adopt'],
      'registration',
    ),
    adoptGroup: setting(
      'with --takeover adopt: hosts that run the same VCL become one VCL group of this name',
      'group-name',
      null,
    ),
    warmup: setting('longest wait for the probes of a new VCL before it is used', '0..600', 10, {
      unit: 's',
    }),
  }
}

const engineSettings = {
  engine: setting(
    'attach to a running cache, spawn a private one, or simulate one; without it agents attach and a coordinator spawns',
    ['attach', 'spawn', 'simulate'],
    null,
  ),
  engineAddress: setting('the management port', 'host-port', '127.0.0.1:6082'),
  engineSecretFile: setting(
    'secret of the management port, read at each authentication; without it that of the running cache, else /etc/varnish/secret or /etc/vinyl-cache/secret',
    'text',
    null,
  ),
  engineName: setting("the cache's -n working directory", 'text', null),
  engineHttp: setting('where the cache serves clients', 'host-port', '127.0.0.1:6081'),
  engineProgram: setting(
    "the cache's program, such as /usr/sbin/varnishd or /usr/sbin/vinyld, which checks VCL beside the cache; without it that of the running cache is looked for",
    'absolute-path',
    null,
  ),
  tenantCompile: setting(
    "CPU time and memory that the compilation of an organization's VCL may use on an agent of another owner",
    'compile-limits',
    '20s,512MiB',
  ),
  tests: setting(
    'run tests of VCL in a private cache beside the cache; without it only agents that spawn their cache do so, and read-only agents never',
    'flag',
    null,
  ),
  counters: setting(
    'counters sampled beside the usual ones, such as MAIN.esi_errors or VBE.*.busy',
    'list',
    [],
  ),
  maskHeaders: setting(
    'headers whose values do not leave the host with the log, beside Cookie, Set-Cookie, Authorization and Proxy-Authorization',
    'list',
    [],
  ),
  maskQuery: setting('query strings of URLs do not leave the host with the log', 'flag', false),
  sampleRate: setting(
    'log lines per second that are read for the figures of groups and domains; above that one request of 10, 100 or 1000 is read; 0: no figures',
    '0..10000',
    200,
  ),
  metricsListen: setting(
    'listener that serves the counters of the cache to Prometheus; without a login, so keep it on loopback',
    'host-port',
    null,
  ),
  healthListen: setting(
    'listener that tells load balancers at /health whether the cache should get traffic; without a login',
    'host-port',
    null,
  ),
  tlsDir: setting(
    "folder for certificates and keys, readable by the group of the cache's manager (0640) if that is not root; without it tls/ in the state dir",
    'absolute-path',
    null,
  ),
}

const simulationSettings = {
  simulate: setting('extra simulated caches with agents', '0..100000', 0),
  simulateCompileMs: setting('compile time of simulated engines', '0..600000', 0, { unit: 'ms' }),
  simulateTls: setting(
    'the extra simulated caches have a TLS listener, as Varnish 9.0 may',
    'flag',
    false,
  ),
}
