/**
 * The cache's counters by name: which are kept, how older names map, and which are counters or gauges.
 *
 * Names are those of current releases (`MAIN.cache_hit`). Backend counters are `VBE.<backend>.<field>`, without the VCL and
 * the address, so that a deploy starts no new series (docs/behaviour.md, Statistics).
 */

interface CounterDefinition {
  readonly name: string
  readonly kind: 'counter' | 'gauge'
  readonly description: string
}

const gaugeFields: Readonly<Record<string, ReadonlySet<string>>> = {
  MAIN: new Set([
    ...['uptime', 'pools', 'threads', 'thread_queue_len', 'n_pipe', 'n_backend', 'vmods'],
    ...['n_object', 'n_vampireobject', 'n_objectcore', 'n_objecthead'],
    ...['n_vcl', 'n_vcl_avail', 'n_vcl_discard'],
    ...['bans', 'bans_completed', 'bans_obj', 'bans_req'],
    ...['bans_persisted_bytes', 'bans_persisted_fragmentation'],
  ]),
  // A cache declares its uptime a counter, but its rate is meaningless.
  MGT: new Set(['uptime']),
  VBE: new Set(['conn', 'is_healthy']),
  MEMPOOL: new Set(['live', 'pool', 'sz_wanted', 'sz_actual']),
}

/** The counters that older consoles show and that operators check first. A cache has those of its release and storage. */
export const defaultCounters: readonly CounterDefinition[] = [
  define('MAIN.client_req', 'good requests received from clients'),
  define('MAIN.client_req_400', 'requests of clients answered 400: malformed'),
  define('MAIN.cache_hit', 'requests answered from the cache'),
  define('MAIN.cache_hit_grace', 'hits on objects past their time to live, in grace'),
  define('MAIN.cache_hitpass', 'hits on a remembered pass'),
  define('MAIN.cache_hitmiss', 'hits on a remembered miss'),
  define('MAIN.cache_miss', 'requests for which an object was fetched'),
  define('MAIN.s_pass', 'requests passed to a backend'),
  define('MAIN.s_pipe', 'requests piped to a backend'),
  define('MAIN.s_synth', 'synthetic responses'),
  define('MAIN.s_req_hdrbytes', 'bytes of request headers received'),
  define('MAIN.s_req_bodybytes', 'bytes of request bodies received'),
  define('MAIN.s_resp_hdrbytes', 'bytes of response headers sent'),
  define('MAIN.s_resp_bodybytes', 'bytes of response bodies sent'),
  define('MAIN.sess_conn', 'connections of clients accepted'),
  define('MAIN.sess_fail', 'connections of clients that could not be accepted'),
  define('MAIN.sess_queued', 'connections that waited for a thread'),
  define('MAIN.sess_dropped', 'connections dropped for lack of a thread'),
  define('MAIN.req_dropped', 'HTTP/2 requests dropped for lack of a thread'),
  define('MAIN.backend_req', 'requests made to backends'),
  define('MAIN.backend_conn', 'connections to backends opened'),
  define('MAIN.backend_reuse', 'connections to backends used again'),
  define('MAIN.backend_fail', 'connections to backends that failed'),
  define('MAIN.backend_unhealthy', 'connections to backends not tried: the backend is sick'),
  define('MAIN.backend_busy', 'connections to backends not tried: the backend has too many'),
  define('MAIN.fetch_failed', 'fetches from backends that failed'),
  define('MAIN.s_fetch', 'fetches from backends begun'),
  define('MAIN.s_bgfetch', 'fetches begun in the background'),
  define('MAIN.threads', 'threads'),
  define('MAIN.thread_queue_len', 'requests that wait for a thread'),
  define('MAIN.threads_created', 'threads started'),
  define('MAIN.threads_limited', 'times that no thread was started because of the limit'),
  define('MAIN.threads_failed', 'threads that could not be started'),
  define('MAIN.n_object', 'objects held'),
  define('MAIN.n_expired', 'objects that expired'),
  define('MAIN.n_lru_nuked', 'objects removed to make room'),
  define('MAIN.n_backend', 'backends'),
  define('MAIN.n_vcl', 'VCLs loaded'),
  define('MAIN.vcl_fail', 'failures in VCL'),
  define('MAIN.bans', 'bans in the list'),
  define('MAIN.n_purges', 'purges'),
  define('SMA.s0.c_bytes', 'bytes allocated in memory'),
  define('SMA.s0.g_bytes', 'bytes of memory in use'),
  define('SMA.s0.g_space', 'bytes of memory free'),
  define('SMA.Transient.g_bytes', 'bytes of memory in use by what is short-lived'),
  define('SMF.s0.c_bytes', 'bytes allocated in the file'),
  define('SMF.s0.g_bytes', 'bytes of the file in use'),
  define('SMF.s0.g_space', 'bytes of the file free'),
]

/** Names of 3.x to 6.x that do not simply get the prefix `MAIN.` (management-protocol: 8). */
const renamed: ReadonlyMap<string, string> = new Map([
  ['client_conn', 'sess_conn'],
  ['client_drop', 'sess_dropped'],
  ['sess_drop', 'sess_dropped'],
  ['n_wrk_drop', 'sess_dropped'],
  ['n_wrk_queued', 'sess_queued'],
  ['n_wrk', 'threads'],
  ['n_wrk_create', 'threads_created'],
  ['n_wrk_failed', 'threads_failed'],
  ['n_wrk_max', 'threads_limited'],
  ['n_wrk_lqueue', 'thread_queue_len'],
  ['s_req', 'client_req'],
  ['s_hdrbytes', 's_resp_hdrbytes'],
  ['s_bodybytes', 's_resp_bodybytes'],
  ['n_ban', 'bans'],
  ['n_ban_add', 'bans_added'],
  ['n_ban_retire', 'bans_deleted'],
])

/** Names from callers are limited in length before they are matched. */
const nameLimit = 290

/** Returns the current name of a counter with a current or older name; null for an impossible name. */
export function resolveCounter(name: string): string | null {
  if (name.length > nameLimit) return null
  const main = /^(?:MAIN\.)?([a-z]\w*)$/.exec(name)?.[1]
  if (main !== undefined) return `MAIN.${renamed.get(main) ?? main}`
  const backend = /^VBE\.(\S+)\.([a-z]\w*)$/.exec(name)
  if (backend) return `VBE.${normaliseBackend(backend[1] ?? '')}.${backend[2] ?? ''}`
  return /^(?:MGT|[A-Z][A-Z\d]*\.[\w.:-]+|DOMAIN\.(?:\d+:)?\*\.[\w.-]+)\.[a-z]\w*$/.test(name)
    ? name
    : null
}

/**
 * Traffic figures, `GROUP.7.requests` and `DOMAIN.www.example.com.requests`. Those of a domain are stored with the group that
 * answered (`DOMAIN.7:www.example.com.requests`): a domain may later belong to another organization.
 */
interface Figure {
  /** Null: a domain, summed over all groups. */
  readonly groupId: number | null
  /** Null: the group itself. */
  readonly fqdn: string | null
  /** `requests`, `hits` and so on. */
  readonly figure: string
}

/** Parses a current name; null: not a figure. */
export function parseFigure(name: string): Figure | null {
  const [first, last] = [name.indexOf('.'), name.lastIndexOf('.')]
  if (!isFigure(name) || first === last) return null
  const [kind, middle] = [name.slice(0, first), name.slice(first + 1, last)]
  const [, id, fqdn = ''] =
    (kind === 'GROUP' ? /^(\d{1,15})$/ : /^(?:(\d{1,15}):)?(.+)$/).exec(middle) ?? []
  if (kind === 'GROUP' && id === undefined) return null
  const groupId = id === undefined ? null : Number(id)
  return { groupId, fqdn: kind === 'GROUP' ? null : fqdn, figure: name.slice(last + 1) }
}

/** Checks the prefix only. */
export function isFigure(name: string): boolean {
  return name.startsWith('GROUP.') || name.startsWith('DOMAIN.')
}

/** The prefix of a domain's figures. */
export function nameDomain(groupId: number, fqdn: string): string {
  return `DOMAIN.${groupId}:${fqdn}`
}

/** `boot.default`, `default(127.0.0.1,,80)`, `boot.pool(10.0.0.1:80)`: returns the backend's name without VCL and address. */
function normaliseBackend(ident: string): string {
  const [withoutAddress = ''] = ident.split('(')
  const parts = withoutAddress.split('.').filter((part) => part !== '')
  return parts[1] ?? parts[0] ?? 'unnamed'
}

/** Fields that every storage has. */
const storageFields = new Set([
  ...['c_req', 'c_fail', 'c_bytes', 'c_freed', 'g_alloc', 'g_bytes', 'g_space'],
])

/**
 * The counters of memory storage that replace those of file storage, by current name: dashboards for older caches request
 * `SMF.s0.c_bytes` regardless of the storage.
 */
export function findMemoryCounters(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    names.flatMap((name) => {
      const [, ident, field = ''] = /^SMF\.(.+)\.(\w+)$/.exec(name) ?? []
      return ident !== undefined && storageFields.has(field)
        ? [[name, `SMA.${ident}.${field}`] as const]
        : []
    }),
  )
}

/** For a current name. Gauges of storage are named `g_…` in every release. */
export function kindOfCounter(name: string): 'counter' | 'gauge' {
  const field = name.slice(name.lastIndexOf('.') + 1)
  const group = name.slice(0, name.indexOf('.'))
  const isGauge = gaugeFields[group]?.has(field) ?? (field.startsWith('g_') && /^SM./.test(group))
  return isGauge ? 'gauge' : 'counter'
}

function define(name: string, description: string): CounterDefinition {
  return { name, kind: kindOfCounter(name), description }
}
