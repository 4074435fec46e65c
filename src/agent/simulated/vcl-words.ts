/** The words of VCL that a simulated compiler knows: returns by subroutine, variables, modules, fields. */

/** libvcc/generate.py */
export const returnsOf: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    vcl_recv: 'fail hash pass pipe purge restart synth vcl',
    vcl_pipe: 'fail pipe synth',
    vcl_pass: 'fail fetch restart synth',
    vcl_hash: 'fail lookup',
    vcl_purge: 'fail restart synth',
    vcl_miss: 'fail fetch pass restart synth',
    vcl_hit: 'deliver fail pass restart synth',
    vcl_deliver: 'deliver fail restart synth',
    vcl_synth: 'deliver fail restart',
    vcl_backend_fetch: 'abandon error fail fetch',
    vcl_backend_response: 'abandon deliver error fail pass retry',
    vcl_backend_error: 'abandon deliver fail retry',
    vcl_init: 'fail ok',
    vcl_fini: 'ok',
  }).map(([name, actions]) => [name, actions.split(' ')]),
)

export const returnNames: ReadonlySet<string> = new Set([...returnsOf.values()].flat())

/** From 7.0 on the built-in VCL has its own subroutines, such as vcl_builtin_recv and vcl_req_host. */
const builtinSubroutine = /^vcl_(?:builtin|req|beresp)_/

export function isBuiltinSubroutine(name: string): boolean {
  return returnsOf.has(name) || builtinSubroutine.test(name)
}

/** vcl-var(7) of 7.1, without headers (`req.http.X`) and `storage.NAME.X`. */
const variables = toSet(`
client.identity client.ip server.hostname server.identity server.ip remote.ip local.endpoint local.ip local.socket
req req.backend_hint req.can_gzip req.esi req.esi_level req.grace req.hash req.hash_always_miss req.hash_ignore_busy
req.hash_ignore_vary req.is_hitmiss req.is_hitpass req.method req.proto req.restarts req.storage req.time req.transport
req.ttl req.url req.xid req_top.method req_top.proto req_top.time req_top.url bereq bereq.backend bereq.body
bereq.between_bytes_timeout bereq.connect_timeout bereq.first_byte_timeout bereq.hash bereq.is_bgfetch bereq.is_hitmiss
bereq.is_hitpass bereq.method bereq.proto bereq.retries bereq.time bereq.uncacheable bereq.url bereq.xid beresp
beresp.age beresp.backend beresp.backend.ip beresp.backend.name beresp.body beresp.do_esi beresp.do_gunzip beresp.do_gzip
beresp.do_stream beresp.filters beresp.grace beresp.keep beresp.proto beresp.reason beresp.status beresp.storage
beresp.storage_hint beresp.time beresp.ttl beresp.uncacheable beresp.was_304 obj obj.age obj.can_esi obj.grace obj.hits
obj.keep obj.proto obj.reason obj.status obj.storage obj.time obj.ttl obj.uncacheable resp resp.body resp.do_esi
resp.filters resp.is_streaming resp.proto resp.reason resp.status resp.time now sess sess.idle_send_timeout
sess.send_timeout sess.timeout_idle sess.timeout_linger sess.xid`)

const header = /^(?:req|bereq|beresp|resp|obj|req_top)\.http\.(?:[A-Za-z0-9_-]|\{?")/
const storage = /^storage\.\w+(?:\.(?:free_space|happy|used_space))?$/

export function isVariable(name: string): boolean {
  return variables.has(name) || header.test(name) || storage.test(name)
}

export const builtinWords = toSet('true false regsub regsuball default')

export const units = toSet('ms s m h d w y B KB MB GB TB K M G T')

/** Modules that are included with the cache, and those of the varnish-modules collection. */
export const moduleNames = toSet(
  'std directors blob cookie h2 proxy purge unix vtc ' +
    'accept bodyaccess header saintmode str tcp var vsthrottle xkey',
)

export const backendFields = toSet(
  'host port path host_header connect_timeout first_byte_timeout probe between_bytes_timeout ' +
    'max_connections proxy_header preamble via authority',
)

export const probeFields = toSet(
  'url request expected_response timeout interval window threshold initial expect_close',
)

function toSet(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/))
}
