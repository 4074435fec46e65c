/** The words of VCL that a crude acceptance knows: subroutines, what they may return, variables, modules, fields. */

/** What each subroutine may return (libvcc/generate.py). */
export const returnsOf: Readonly<Record<string, readonly string[]>> = {
  vcl_recv: ['fail', 'hash', 'pass', 'pipe', 'purge', 'restart', 'synth', 'vcl'],
  vcl_pipe: ['fail', 'pipe', 'synth'],
  vcl_pass: ['fail', 'fetch', 'restart', 'synth'],
  vcl_hash: ['fail', 'lookup'],
  vcl_purge: ['fail', 'restart', 'synth'],
  vcl_miss: ['fail', 'fetch', 'pass', 'restart', 'synth'],
  vcl_hit: ['deliver', 'fail', 'pass', 'restart', 'synth'],
  vcl_deliver: ['deliver', 'fail', 'restart', 'synth'],
  vcl_synth: ['deliver', 'fail', 'restart'],
  vcl_backend_fetch: ['abandon', 'error', 'fail', 'fetch'],
  vcl_backend_response: ['abandon', 'deliver', 'error', 'fail', 'pass', 'retry'],
  vcl_backend_error: ['abandon', 'deliver', 'fail', 'retry'],
  vcl_init: ['fail', 'ok'],
  vcl_fini: ['ok'],
}

export const returnNames: ReadonlySet<string> = new Set(Object.values(returnsOf).flat())

/** In the order the compiler lists them. */
export const subroutineNames: readonly string[] = [
  ...['backend_error', 'backend_fetch', 'backend_response', 'deliver', 'fini', 'hash', 'hit'],
  ...['init', 'miss', 'pass', 'pipe', 'purge', 'recv', 'synth', 'builtin_recv', 'req_host'],
  ...['req_method', 'req_authorization', 'req_cookie', 'builtin_pipe', 'builtin_pass'],
  ...['builtin_hash', 'builtin_purge', 'builtin_hit', 'builtin_miss', 'builtin_deliver'],
  ...['builtin_synth', 'builtin_backend_fetch', 'builtin_backend_response', 'beresp_stale'],
  ...['beresp_cookie', 'beresp_control', 'beresp_vary', 'beresp_hitmiss'],
  'builtin_backend_error',
].map((name) => `vcl_${name}`)

/** reference vcl-var(7) of 7.1; headers (`req.http.X`) and `storage.NAME.X` apart. */
const variableNames = `
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
sess.send_timeout sess.timeout_idle sess.timeout_linger sess.xid`

const variables: ReadonlySet<string> = new Set(variableNames.trim().split(/\s+/))
const header = /^(?:req|bereq|beresp|resp|obj|req_top)\.http\.(?:[A-Za-z0-9_-]|\{?")/
const storage = /^storage\.\w+(?:\.(?:free_space|happy|used_space))?$/
const builtinWords: ReadonlySet<string> = new Set([
  ...['true', 'false', 'regsub', 'regsuball', 'default'],
])

export function isVariable(name: string): boolean {
  return variables.has(name) || header.test(name) || storage.test(name)
}

/** `resp.proto.lower` in `resp.proto.lower()`: a method of a variable. */
export function isVariableMethod(name: string): boolean {
  const variable = name.slice(0, name.lastIndexOf('.'))
  return variable.includes('.') && isVariable(variable)
}

export const isBuiltinWord = (name: string): boolean => builtinWords.has(name.toLowerCase())

/** Words that exist and yet begin no statement. */
export const reservedWords: ReadonlySet<string> = new Set([
  ...['acl', 'sub', 'backend', 'probe', 'import', 'vcl', 'include'],
])

export const topLevelWords: readonly string[] = ['acl', 'sub', 'backend', 'probe', 'import', 'vcl']

/** Modules that come with the engine, and those of the varnish-modules collection. */
export const moduleNames: ReadonlySet<string> = new Set([
  ...['std', 'directors', 'blob', 'cookie', 'h2', 'proxy', 'purge', 'unix', 'vtc'],
  ...['accept', 'bodyaccess', 'header', 'saintmode', 'str', 'tcp', 'var', 'vsthrottle', 'xkey'],
])

export const backendFields: ReadonlySet<string> = new Set([
  ...['host', 'port', 'path', 'host_header', 'connect_timeout', 'first_byte_timeout', 'probe'],
  ...['between_bytes_timeout', 'max_connections', 'proxy_header', 'preamble', 'via', 'authority'],
])

export const probeFields: ReadonlySet<string> = new Set([
  ...['url', 'request', 'expected_response', 'timeout', 'interval', 'window', 'threshold'],
  ...['initial', 'expect_close'],
])
