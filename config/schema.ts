/**
 * Every setting of the daemon: meaning, unit, form, default, variable and flag (docs/behaviour.md, Settings). `cachefleetd
 * --help` prints this table.
 */
import type convict from 'convict'
import type { HostPort } from './formats.js'

/** Set when the schema is made, because they depend on where the daemon runs. */
export interface Surroundings {
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
  readonly tlsCert: string | null
  readonly tlsKey: string | null
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
  readonly engineSecretFile: string
  readonly engineName: string | null
  readonly engineHttp: HostPort
  readonly engineProgram: string | null
  readonly tenantCompile: string
  readonly counters: readonly string[]
  readonly metricsListen: HostPort | null
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
  readonly licenseKey: string | null
  readonly simulate: number
  readonly simulateCompileMs: number
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error'
  readonly adminUser: string | null
  readonly adminPassword: string | null
}

/** As convict keeps them: addresses are text. */
export type RawSettings = {
  readonly [K in keyof Settings]: Settings[K] extends HostPort
    ? string
    : HostPort extends Settings[K]
      ? string | null
      : Settings[K]
}
export type SettingSchema = convict.SchemaObj & { readonly unit?: string }
export type Schema = { readonly [K in keyof Settings]: SettingSchema }

/** Forms of whole numbers used below. */
export const ranges = [
  '1..3600',
  '1..60',
  '1..16',
  '0..600',
  '1..3650',
  '0..100000',
  '0..600000',
  '1..40000',
]

export function createSchema(surroundings: Surroundings): Schema {
  return {
    ...roleSettings(surroundings),
    ...coordinatorSettings(),
    ...agentSettings(surroundings),
    ...engineSettings(),
    ...simulationSettings(),
  }
}

function setting(doc: string, format: unknown, initial: unknown, word: string): SettingSchema {
  return {
    doc,
    format: format as convict.SchemaObj['format'], // one of our formats, or a list of words
    default: initial,
    nullable: initial === null,
    env: `CACHEFLEET_${word.toUpperCase().replaceAll('-', '_')}`,
    arg: word,
  }
}

/** A setting without a flag: no secret is ever a flag's value. */
function secret(doc: string, variable: string): SettingSchema {
  return { doc, format: 'text', default: null, nullable: true, env: variable, sensitive: true }
}

function roleSettings(surroundings: Surroundings) {
  return {
    coordinator: setting('run the coordinator, with a local agent', 'flag', false, 'coordinator'),
    noAgent: setting('coordinator without the local agent', 'flag', false, 'no-agent'),
    stateDir: setting('everything kept on disk', 'text', surroundings.stateDir, 'state-dir'),
    logLevel: setting(
      'how much is logged',
      ['trace', 'debug', 'info', 'warn', 'error'],
      'info',
      'log-level',
    ),
  }
}

function coordinatorSettings() {
  return {
    listen: setting(
      "the coordinator's one HTTP(S) listener",
      'host-port',
      '127.0.0.1:8002',
      'listen',
    ),
    apis: setting('which APIs are served', 'apis', ['controller', 'console'], 'apis'),
    tlsCert: setting('certificate (PEM file) for HTTPS and WSS', 'text', null, 'tls-cert'),
    tlsKey: setting('key (PEM file) of the certificate', 'text', null, 'tls-key'),
    // May hold a password.
    store: {
      ...setting(
        'sqlite:PATH or postgres://…; without it a file in the state dir; with a password not by the flag, which everybody on the host can read',
        'store',
        null,
        'store',
      ),
      sensitive: true,
    },
    // May hold a password.
    bus: {
      ...setting(
        'in-process, or nats://… between several coordinators of one PostgreSQL store; with a password not by the flag',
        'bus',
        'in-process',
        'bus',
      ),
      sensitive: true,
    },
    heartbeat: {
      ...setting('time between heartbeats, told to agents', '1..3600', 5, 'heartbeat'),
      unit: 's',
    },
    statsInterval: {
      ...setting('time between samples of counters, told to agents', '1..60', 10, 'stats-interval'),
      unit: 's',
    },
    statsArchives: setting(
      'how many archives of samples are kept, the finest first; each reaches back 1.6 times as long as the one before',
      '1..16',
      16,
      'stats-archives',
    ),
    publicUrl: setting(
      'how browsers and identity providers reach the coordinator; without it by the listener',
      'web-origin',
      null,
      'public-url',
    ),
    trustedProxies: setting(
      'addresses or networks whose forwarded addresses count',
      'networks',
      [],
      'trusted-proxies',
    ),
    connectionsPerAddress: setting(
      'open connections of one address (IPv6: /64), links of agents apart; not counted for loopback and --trusted-proxies',
      '1..40000',
      1000,
      'connections-per-address',
    ),
    secretKeyFile: setting(
      'seals recoverable secrets in the store; made when missing; the same on all coordinators',
      'text',
      null,
      'secret-key-file',
    ),
    vmods: setting(
      'modules that VCL of organizations may import',
      'list',
      ['std', 'directors'],
      'vmods',
    ),
    includes: setting("names of the cache's own VCL that may be included", 'list', [], 'includes'),
    apilogDays: {
      ...setting('how long API log entries are kept', '1..3650', 7, 'apilog-days'),
      unit: 'days',
    },
    licenseKey: setting(
      'Ed25519 public key (PEM file) of console licenses; without it none is checked',
      'text',
      null,
      'license-key',
    ),
    adminUser: secret(
      'name of the first administrator, on an empty store',
      'CACHEFLEET_ADMIN_USER',
    ),
    adminPassword: secret('password of the first administrator', 'CACHEFLEET_ADMIN_PASSWORD'),
  }
}

function agentSettings(surroundings: Surroundings) {
  return {
    readOnly: setting('the agent only retrieves', 'flag', false, 'read-only'),
    coordinatorUrl: setting(
      'where the agent connects; several coordinators of one store separated by commas',
      'websocket-urls',
      'ws://127.0.0.1:8002',
      'coordinator-url',
    ),
    coordinatorCa: setting(
      "CA (PEM file) of the coordinator's certificate",
      'text',
      null,
      'coordinator-ca',
    ),
    joinToken: secret(
      'first enrolment; afterwards the agent has its own key',
      'CACHEFLEET_JOIN_TOKEN',
    ),
    joinTokenFile: setting('file with the join token', 'text', null, 'join-token-file'),
    name: setting('agent name, unique', 'name', surroundings.name, 'name'),
    tags: setting('static tags', 'tags', [], 'tags'),
    takeover: setting(
      'when existing VCL is unloaded; adopt: what runs becomes a deployed root group',
      ['registration', 'first-deploy', 'adopt'],
      'registration',
      'takeover',
    ),
    adoptGroup: setting(
      'with --takeover adopt: hosts that run the same VCL become one VCL group of this name',
      'group-name',
      null,
      'adopt-group',
    ),
    warmup: {
      ...setting(
        'longest wait for the probes of a new VCL before it is used',
        '0..600',
        10,
        'warmup',
      ),
      unit: 's',
    },
  }
}

function engineSettings() {
  return {
    engine: setting(
      'attach to a running cache, spawn a private one, or simulate one; without it agents attach and a coordinator spawns',
      ['attach', 'spawn', 'simulate'],
      null,
      'engine',
    ),
    engineAddress: setting('the management port', 'host-port', '127.0.0.1:6082', 'engine-address'),
    engineSecretFile: setting(
      'secret of the management port, read at each authentication',
      'text',
      '/etc/varnish/secret',
      'engine-secret-file',
    ),
    engineName: setting("the cache's -n working directory", 'text', null, 'engine-name'),
    engineHttp: setting(
      'where the cache serves clients',
      'host-port',
      '127.0.0.1:6081',
      'engine-http',
    ),
    engineProgram: setting(
      "the cache's program, such as /usr/sbin/varnishd, which checks VCL beside the cache; without it that of the running cache is looked for",
      'absolute-path',
      null,
      'engine-program',
    ),
    tenantCompile: setting(
      "CPU time and memory in which a text of an organization must compile on an agent that is not the organization's own",
      'compile-limits',
      '20s,512MiB',
      'tenant-compile',
    ),
    counters: setting(
      'counters sampled beside the usual ones, such as MAIN.esi_errors or VBE.*.busy',
      'list',
      [],
      'counters',
    ),
    metricsListen: setting(
      'where the agent tells Prometheus the counters of its cache; without a login, so on loopback',
      'host-port',
      null,
      'metrics-listen',
    ),
  }
}

function simulationSettings() {
  return {
    simulate: setting('extra simulated caches with agents', '0..100000', 0, 'simulate'),
    simulateCompileMs: {
      ...setting('compile time of simulated engines', '0..600000', 0, 'simulate-compile-ms'),
      unit: 'ms',
    },
  }
}
