/**
 * The parameters of a 7.1.1 engine with their real defaults, units, limits and flags (`param.show -j` of 7.1.1 on Linux). Descriptions are
 * our own short ones; build options have a plain default. All simulated engines share one table, minus parameters that older releases lack;
 * parameters that only older or newer releases have are not included.
 */
import type { EngineState } from './engine-state.js'
import { initialMask, printBits } from './param-bits.js'
import type { EngineRelease } from './release.js'

const kinds = [
  'none', // not implemented on this platform
  ...(['bool', 'count', 'decimal', 'seconds', 'bytes', 'bits', 'pool', 'storage', 'text'] as const),
] as const

type ParamKind = (typeof kinds)[number]

export interface ParamSpec {
  readonly name: string
  readonly kind: ParamKind
  readonly defaultText: string
  readonly units: string
  /** Undefined: no limit. `*`: depends on another parameter, see `limitsOf`. */
  readonly minimum: string | undefined
  readonly maximum: string | undefined
  readonly flags: readonly string[]
  readonly description: string
}

export interface ParamLimit {
  readonly text: string
  /** The parameter that determines the limit, named in the refusal. */
  readonly because?: string
}

/** name|kind|default|units|minimum|maximum|flags|description */
const rows = `
accept_filter|none||||||Use the kernel's accept filters.
acceptor_sleep_decay|decimal|0.9||0|1|experimental|Factor by which the accept pause shrinks per accept.
acceptor_sleep_incr|seconds|0.000|seconds|0.000|1.000|experimental|How much longer each accept pause becomes.
acceptor_sleep_max|seconds|0.050|seconds|0.000|10.000|experimental|Longest pause between accepts.
auto_restart|bool|on|bool||||Start a new child when it dies.
backend_idle_timeout|seconds|60.000|seconds|1.000|||Unused backend connections close after this.
backend_local_error_holddown|seconds|10.000|seconds|0.000||experimental|No new connection after a local error for this long.
backend_remote_error_holddown|seconds|0.250|seconds|0.000||experimental|No new connection after a remote error for this long.
ban_cutoff|count|0|bans|0||experimental|Expunge long tail objects beyond this many bans.
ban_dups|bool|on|bool||||Complete older identical bans.
ban_lurker_age|seconds|60.000|seconds|0.000|||The lurker leaves younger bans alone.
ban_lurker_batch|count|1000||1|||Objects the lurker examines before it sleeps.
ban_lurker_holdoff|seconds|0.010|seconds|0.000||experimental|Pause of the lurker when it is in the way.
ban_lurker_sleep|seconds|0.010|seconds|0.000|||Pause of the lurker between batches; 0 stops it.
between_bytes_timeout|seconds|60.000|seconds|0.000|||Default time between bytes of a backend.
cc_command|text|exec gcc -g -O2 -fpic -shared -Wl,-x -o %o %s||||must_reload build_options|Shell command that compiles VCL.
cc_warnings|text| -Wall -Werror -Wno-error=unused-result||||must_reload build_options|Warnings of the C compiler.
cli_limit|bytes|48k|bytes|128b|99999999b||Longest reply on the management port; beyond it status 201.
cli_timeout|seconds|60.000|seconds|0.000|||Longest wait for an answer of the child.
clock_skew|count|10|seconds|0|||Accepted difference of clocks with backends.
clock_step|seconds|1.000|seconds|0.000|||Accepted step of the own clock.
connect_timeout|seconds|3.500|seconds|0.000|||Default time to connect to a backend.
critbit_cooloff|seconds|180.000|seconds|60.000|254.000|wizard|How long the hasher keeps deleted heads.
debug|bits|none|||||Bits for debugging.
default_grace|seconds|10.000|seconds|0.000||obj_sticky|Grace of objects that name none.
default_keep|seconds|0.000|seconds|0.000||obj_sticky|Keep of objects that name none.
default_ttl|seconds|120.000|seconds|0.000||obj_sticky|Time to live of objects that name none.
experimental|bits|none|||||Bits for features on trial.
feature|bits|+validate_headers|||||Bits for minor features.
fetch_chunksize|bytes|16k|bytes|4k||experimental|Storage asked for at first in a fetch.
fetch_maxchunksize|bytes|0.25G|bytes|64k||experimental|Largest storage asked for at once.
first_byte_timeout|seconds|60.000|seconds|0.000|||Default time until a backend's first byte.
gzip_buffer|bytes|32k|bytes|2k||experimental|Buffer of gzip.
gzip_level|count|6||0|9||Level of gzip, 0 none to 9 best.
gzip_memlevel|count|8||1|9||Memory of gzip, 1 to 9.
h2_header_table_size|bytes|4k|bytes|0b|||HTTP/2 header table size.
h2_initial_window_size|bytes|65535b|bytes|65535b|2147483647b||HTTP/2 initial window.
h2_max_concurrent_streams|count|100|streams|0|||HTTP/2 streams of a session at once.
h2_max_frame_size|bytes|16k|bytes|16k|16777215b||HTTP/2 largest frame.
h2_max_header_list_size|bytes|2147483647b|bytes|0b|||HTTP/2 largest header list.
h2_rx_window_increment|bytes|1M|bytes|1M|1G|wizard|HTTP/2 window increment.
h2_rx_window_low_water|bytes|10M|bytes|65535b|1G|wizard|HTTP/2 low water mark of the window.
h2_rxbuf_storage|storage|Transient||||must_restart|Storage of HTTP/2 request bodies.
http1_iovs|count|64|struct iovec (=16 bytes)|5|1024|wizard|IO vectors of an HTTP/1 response.
http_gzip_support|bool|on|bool||||Ask backends for gzip.
http_max_hdr|count|64|header lines|32|65535||Header lines of a request or response.
http_range_support|bool|on|bool||||Serve ranges.
http_req_hdr_len|bytes|8k|bytes|40b|||Longest header line of a request.
http_req_size|bytes|32k|bytes|0.25k|||Largest header of a request.
http_resp_hdr_len|bytes|8k|bytes|40b|||Longest header line of a response.
http_resp_size|bytes|32k|bytes|0.25k|||Largest header of a response.
idle_send_timeout|seconds|60.000|seconds|0.000||delayed_effect|A response without progress ends after this.
listen_depth|count|1024|connections|0||must_restart|Depth of the listen queue.
lru_interval|seconds|2.000|seconds|0.000||experimental|An object moves in the LRU list once in this time.
max_esi_depth|count|5|levels|0|||Deepest ESI include.
max_restarts|count|4|restarts|0|||Restarts of a request.
max_retries|count|4|retries|0|||Retries of a fetch.
max_vcl|count|100||0|||Loaded programs, labels not counted.
max_vcl_handling|count|1||0|2||Beyond max_vcl: 0 nothing, 1 a note, 2 refuse.
nuke_limit|count|50|allocations|0||experimental|Objects evicted to make room for one.
pcre2_depth_limit|count|20||1|||Recursion of regular expressions.
pcre2_jit_compilation|bool|on|bool||||Compile regular expressions.
pcre2_match_limit|count|10000||1|||Steps of a regular expression.
ping_interval|count|3|seconds|0||must_restart|Time between pings of the child.
pipe_sess_max|count|0|connections|0|||Sessions in pipe; 0 is no limit.
pipe_timeout|seconds|60.000|seconds|0.000|||An idle pipe ends after this.
pool_req|pool|10,100,10|||||Pool of requests: least, most, age.
pool_sess|pool|10,100,10|||||Pool of sessions: least, most, age.
pool_vbo|pool|10,100,10|||||Pool of backend objects: least, most, age.
prefer_ipv6|bool|off|bool||||Connect by IPv6 first.
rush_exponent|count|3|requests per request|2||experimental|Waiting requests woken at once.
send_timeout|seconds|600.000|seconds|0.000||delayed_effect|A response ends after this.
shortlived|seconds|10.000|seconds|0.000|||Objects of a shorter life are transient.
sigsegv_handler|bool|on|bool|||must_restart|Report where a segmentation fault was.
syslog_cli_traffic|bool|on|bool||||Log commands to syslog.
tcp_fastopen|bool|off|bool|||must_restart|Use TCP fast open.
tcp_keepalive_intvl|seconds|75.000|seconds|1.000|100.000|experimental|Time between keepalive probes.
tcp_keepalive_probes|count|9|probes|1|100|experimental|Unanswered keepalive probes until a connection is dead.
tcp_keepalive_time|seconds|7200.000|seconds|1.000|7200.000|experimental|Idle time until keepalive probes begin.
thread_pool_add_delay|seconds|0.000|seconds|0.000||experimental|Pause after a thread is made.
thread_pool_destroy_delay|seconds|1.000|seconds|0.010||delayed_effect experimental|Pause after a thread ended.
thread_pool_fail_delay|seconds|0.200|seconds|0.010||experimental|Pause after a thread could not be made.
thread_pool_max|count|5000|threads|*||delayed_effect|Most threads of a pool.
thread_pool_min|count|100|threads|5|*|delayed_effect|Fewest threads of a pool.
thread_pool_reserve|count|0|threads||*|delayed_effect|Threads kept for vital tasks.
thread_pool_stack|bytes|80k|bytes|16k||delayed_effect|Stack of a thread.
thread_pool_timeout|seconds|300.000|seconds|10.000||delayed_effect experimental|An idle thread ends after this.
thread_pool_watchdog|seconds|60.000|seconds|0.100||experimental|A pool stuck for this long is a panic.
thread_pools|count|2|pools|1|32|delayed_effect experimental|Pools of threads.
thread_queue_limit|count|20|requests|0||experimental|Requests that wait for a thread.
thread_stats_rate|count|10|requests|0||experimental|Requests until a thread reports its counters.
timeout_idle|seconds|5.000|seconds|0.000|||An idle client connection closes after this.
timeout_linger|seconds|0.050|seconds|0.000||experimental|A thread waits so long for the next request.
vary_notice|count|10|variants|1|||Variants of an object before it is logged.
vcc_allow_inline_c|bool|off|bool||||Allow inline C in VCL.
vcc_err_unref|bool|on|bool||||Unused definitions are errors, not warnings.
vcc_unsafe_path|bool|on|bool||||Allow / in file names of VCL.
vcl_cooldown|seconds|600.000|seconds|1.000|||An unused program goes cold after this.
vcl_path|text|/etc/varnish:/usr/share/varnish/vcl||||build_options|Where VCL files are looked for.
vmod_path|text|/usr/lib/varnish/vmods||||build_options|Where modules are looked for.
vsl_buffer|bytes|16k|bytes|*|||Buffer of log records.
vsl_mask|bits|${initialMask}|||||Log records that are left out.
vsl_reclen|bytes|255b|bytes|16b|*||Longest log record.
vsl_space|bytes|80M|bytes|1M|4G|must_restart|Shared memory for the log.
vsm_free_cooldown|seconds|60.000|seconds|10.000|600.000||Freed shared memory stays for this.
workspace_backend|bytes|96k|bytes|1k||delayed_effect|Workspace of a fetch.
workspace_client|bytes|96k|bytes|9k||delayed_effect|Workspace of a request.
workspace_session|bytes|0.75k|bytes|384b||delayed_effect|Workspace of a session.
workspace_thread|bytes|2k|bytes|0.25k|8k|delayed_effect|Workspace of a thread.`

const specs: ReadonlyMap<string, ParamSpec> = new Map(
  rows
    .trim()
    .split('\n')
    .map(parseRow)
    .map((spec) => [spec.name, spec]),
)

function parseRow(row: string): ParamSpec {
  const [name = '', kind = '', defaultText = '', units = '', minimum, maximum, flags, description] =
    row.split('|')
  return {
    name,
    kind: parseKind(kind),
    defaultText,
    units,
    minimum: minimum === '' ? undefined : minimum,
    maximum: maximum === '' ? undefined : maximum,
    flags: (flags ?? '').split(' ').filter((flag) => flag !== ''),
    description: description ?? '',
  }
}

function parseKind(text: string): ParamKind {
  const kind = kinds.find((known) => known === text)
  if (kind === undefined) throw new TypeError(`parameter table: no kind ${text}`)
  return kind
}

/** Parameters in the engine's order, by name. */
export function listParams(release: EngineRelease): readonly ParamSpec[] {
  return [...specs.values()].filter(({ name }) => isKnown(release, name))
}

export function findParam(name: string, release?: EngineRelease): ParamSpec | undefined {
  return release === undefined || isKnown(release, name) ? specs.get(name) : undefined
}

function isKnown(release: EngineRelease, name: string): boolean {
  if (name === 'experimental') return release.has([null, '7.1'])
  return !name.startsWith('pcre2_') || release.has([null, '7.0'])
}

/** The text after `Default is:`. */
export function defaultOf(engine: EngineState, spec: ParamSpec): string {
  const { release } = engine
  // Up to 7.0 the default of these is the word `default`, which differs from their printed value.
  if (spec.name === 'feature' && release.feature.defaultText === 'default') return 'default'
  if (spec.name === 'vsl_mask' && !release.has([null, '7.1'])) return 'default'
  return initialOf(engine, spec)
}

export function settingOf(engine: EngineState, spec: ParamSpec): string {
  return engine.params.get(spec.name) ?? initialOf(engine, spec)
}

export function isOn(engine: EngineState, name: string): boolean {
  const spec = specs.get(name)
  return spec !== undefined && settingOf(engine, spec) === 'on'
}

/** The printed value of an unchanged parameter. */
export function initialOf({ release }: EngineState, spec: ParamSpec): string {
  if (spec.name === 'cli_limit') return release.cliLimit
  if (spec.kind !== 'bits') return spec.defaultText
  const own = spec.defaultText.split(',').filter((bit) => /^[+-]/.test(bit))
  const bits = spec.name === 'feature' ? release.feature.bits : own.map((bit) => bit.slice(1))
  return printBits(release, spec.name, new Set(bits))
}

/** Value of a parameter that is a plain number (count, seconds, decimal) or bytes; `unlimited` is Infinity. */
export function readNumber(engine: EngineState, name: string): number {
  const spec = specs.get(name)
  if (spec === undefined) throw new TypeError(`no parameter ${name}`)
  const text = settingOf(engine, spec)
  if (text === 'unlimited') return Infinity
  return spec.kind === 'bytes' ? readBytes(text) : Number(text)
}

const bytesOf: Readonly<Record<string, number>> = { b: 0, k: 10, M: 20, G: 30, T: 40, P: 50 }

/** Reads the engine's output format: `48k`, `0.25G`, `255b`, `267`. */
export function readBytes(text: string): number {
  const exponent = bytesOf[text.slice(-1)]
  return exponent === undefined ? Number(text) : Number(text.slice(0, -1)) * 2 ** exponent
}

interface FollowingLimit {
  readonly limit: 'minimum' | 'maximum'
  readonly follows: string
  readonly of?: (value: number) => number
  readonly because?: string
}

/** Limits that depend on another parameter, so that the two never cross (mgt_param_tweak.c). */
const followingLimits: Readonly<Record<string, FollowingLimit>> = {
  thread_pool_max: { limit: 'minimum', follows: 'thread_pool_min' },
  thread_pool_min: { limit: 'maximum', follows: 'thread_pool_max' },
  thread_pool_reserve: {
    limit: 'maximum',
    follows: 'thread_pool_min',
    of: (least) => Math.floor(least * 0.95),
    because: '95% of thread_pool_min',
  },
  vsl_buffer: { limit: 'minimum', follows: 'vsl_reclen', of: (longest) => longest + 12 },
  vsl_reclen: { limit: 'maximum', follows: 'vsl_buffer', of: (buffer) => buffer - 12 },
}

export interface ParamLimits {
  readonly minimum: ParamLimit | undefined
  readonly maximum: ParamLimit | undefined
}

/** Current limits of a parameter. */
export function limitsOf(engine: EngineState, { name, minimum, maximum }: ParamSpec): ParamLimits {
  const toLimit = (text: string | undefined) => (text === undefined ? undefined : { text })
  const plain = { minimum: toLimit(minimum), maximum: toLimit(maximum) }
  const following = followingLimits[name]
  if (!following) return plain
  const { limit, follows, of = (value: number) => value, because = follows } = following
  return { ...plain, [limit]: { text: String(of(readNumber(engine, follows))), because } }
}
