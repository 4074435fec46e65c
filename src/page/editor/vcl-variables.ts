/**
 * The variables of VCL: type, where each can be read and written, and since which release. Facts are from the caches'
 * references (vcl-var(7) of 6.0 to 9.0), the descriptions are our own.
 */

export interface VclVariable {
  /** May contain a placeholder for any name: `req.http.*`, `storage.<name>.happy`. */
  readonly name: string
  readonly type: string
  /** Names of subroutines. */
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** For example `7.5`; null: all supported releases have it. */
  readonly since: string | null
  /** Version of the VCL syntax: `4.1`, `4.0 only`; null: any. */
  readonly syntax: string | null
  readonly text: string
}

const client = [
  ...['vcl_recv', 'vcl_pipe', 'vcl_pass', 'vcl_hash', 'vcl_purge', 'vcl_miss', 'vcl_hit'],
  ...['vcl_deliver', 'vcl_synth'],
]
const answer = ['vcl_backend_response', 'vcl_backend_error', 'vcl_backend_refresh']
const backend = ['vcl_backend_fetch', ...answer]

const places: Readonly<Record<string, readonly string[]>> = {
  '-': [],
  all: [...client, ...backend, 'vcl_init', 'vcl_fini'],
  client,
  backend,
  answer,
}

/** Columns: name, type, read in, written in, since, syntax, description. */
const table = `
bereq.backend | BACKEND | pipe backend | pipe backend | - | - | Backend or director that is asked
bereq.between_bytes_timeout | DURATION | backend | backend | - | - | Longest wait between two reads of the body
bereq.body | BODY | - | - | - | - | Request body; can only be removed
bereq.connect_timeout | DURATION | pipe backend | pipe backend | - | - | Longest wait for a connection to the backend
bereq.filters | STRING | backend_fetch | backend_fetch | 7.7 | - | Filters that the request body passes on its way to the backend
bereq.first_byte_timeout | DURATION | backend | backend | - | - | Longest wait for the first byte of the response
bereq.hash | BLOB | pipe backend | - | - | - | Hash key of the object that is fetched
bereq.http.* | HEADER | pipe backend | pipe backend | - | - | Header of the request to the backend
bereq.is_bgfetch | BOOL | backend | - | - | - | The fetch runs in the background: a client got a stale object
bereq.is_hitmiss | BOOL | backend | - | 6.6 | - | The fetch follows a hit on a hit-for-miss object
bereq.is_hitpass | BOOL | backend | - | 6.6 | - | The fetch follows a hit on a hit-for-pass object
bereq.method | STRING | pipe backend | pipe backend | - | - | Method of the request to the backend
bereq.proto | STRING | pipe backend | - | - | 4.1 | HTTP version of the request to the backend
bereq.retries | INT | backend | - | - | - | How often this fetch was retried
bereq.retry_connect | BOOL | backend | backend | 9.0 | - | Connect again when a reused connection turns out to be closed
bereq.task_deadline | DURATION | pipe | pipe | 7.5 | - | Longest duration of a piped transaction
bereq.time | TIME | pipe backend | - | 7.1 | - | When this fetch began
bereq.trace | BOOL | backend | backend | 7.4 | - | Log each VCL step of this fetch (VCL_trace)
bereq.uncacheable | BOOL | backend | - | - | - | The response will not be cached: the client passed or hit a pass object
bereq.url | STRING | pipe backend | pipe backend | - | - | Path and query of the request to the backend
bereq.xid | INT | pipe backend | - | - | - | Transaction id of the fetch
beresp.age | DURATION | answer | - | - | - | Age of the object when it was received
beresp.backend | BACKEND | answer | - | - | - | Backend that answered; behind a director the one it chose
beresp.backend.ip | IP | backend_response | - | - | 4.0 only | Address of the backend that answered
beresp.backend.name | STRING | answer | - | - | - | Name of the backend that answered
beresp.body | BODY | - | backend_error | - | - | Body of the generated error response
beresp.do_esi | BOOL | answer | answer | - | - | Parse the body for ESI tags
beresp.do_gunzip | BOOL | answer | answer | - | - | Unpack the body before it is stored
beresp.do_gzip | BOOL | answer | answer | - | - | Compress the body before it is stored
beresp.do_stream | BOOL | answer | answer | - | - | Deliver to clients while the body is still fetched
beresp.filters | STRING | backend_response | backend_response | 6.1 | - | Filters that the body passes on its way into the cache
beresp.grace | DURATION | answer | answer | - | - | How long the object may be served after its TTL while a new one is fetched
beresp.http.* | HEADER | answer | answer | - | - | Header of the response from the backend
beresp.keep | DURATION | answer | answer | - | - | How long the object is kept after its grace for conditional requests
beresp.proto | STRING | answer | - | - | 4.1 | HTTP version of the response from the backend
beresp.reason | STRING | answer | answer | - | - | Reason phrase of the response from the backend
beresp.status | INT | answer | answer | - | - | Status code of the response from the backend
beresp.storage | STEVEDORE | answer | answer | - | - | Storage that the object is put into
beresp.storage_hint | STRING | answer | answer | - | 4.0 only | Name of the storage to use; newer VCL sets beresp.storage
beresp.time | TIME | answer | - | 7.1 | - | When the response headers were received
beresp.transit_buffer | BYTES | backend_response | backend_response | 7.3 | - | Bytes of a passed body that may wait in memory for a slow client
beresp.ttl | DURATION | answer | answer | - | - | How long the object is fresh
beresp.uncacheable | BOOL | answer | answer | - | - | Do not cache this object; setting it back to false has no effect
beresp.was_304 | BOOL | answer | - | - | - | The backend answered 304 to a conditional fetch
client.identity | STRING | client backend | client | - | - | Identifies the client, for directors such as hash; the address unless set
client.ip | IP | client backend | - | - | - | Address of the client, as PROXY told it or of the connection
local.endpoint | STRING | client backend | - | - | 4.1 | The address given to -a where the connection was accepted
local.ip | IP | client backend | - | - | - | Local address of the TCP connection
local.socket | STRING | client backend | - | - | 4.1 | Name of the -a socket: a0, a1, or its own name
now | TIME | all | - | - | - | The current time; the same value within one subroutine
obj.age | DURATION | hit deliver | - | - | - | Age of the object
obj.can_esi | BOOL | hit deliver | - | 6.5 | - | The object has ESI tags that can be processed
obj.grace | DURATION | hit deliver | - | - | - | How long it may be served after its TTL
obj.hits | INT | hit deliver | - | - | - | How often it was hit since it was stored; 0 is a miss
obj.http.* | HEADER | hit | - | - | - | Header of the stored response
obj.keep | DURATION | hit deliver | - | - | - | How long it is kept after its grace
obj.proto | STRING | hit | - | - | - | HTTP version of the stored response
obj.reason | STRING | hit | - | - | - | Reason phrase of the stored response
obj.status | INT | hit | - | - | - | Status code of the stored response
obj.storage | STEVEDORE | hit deliver | - | - | - | Storage that holds it
obj.time | TIME | hit deliver | - | 7.1 | - | When it was created
obj.ttl | DURATION | hit deliver | - | - | - | How long it is still fresh; negative once it expired
obj.uncacheable | BOOL | deliver | - | - | - | It is not cached: passed, or a hit-for-miss object
obj_stale.age | DURATION | backend_refresh | - | 8.0 | - | Of the stale object: age of the object
obj_stale.can_esi | BOOL | backend_refresh | - | 8.0 | - | Of the stale object: the object has ESI tags that can be processed
obj_stale.grace | DURATION | backend_refresh | - | 8.0 | - | Of the stale object: how long it may be served after its TTL
obj_stale.hits | INT | backend_refresh | - | 8.0 | - | Of the stale object: how often it was hit since it was stored; 0 is a miss
obj_stale.http.* | HEADER | backend_refresh | - | 8.0 | - | Of the stale object: header of the stored response
obj_stale.is_valid | BOOL | backend_refresh | - | 8.0 | - | The stale object may be used to complete the 304 response
obj_stale.keep | DURATION | backend_refresh | - | 8.0 | - | Of the stale object: how long it is kept after its grace
obj_stale.proto | STRING | backend_refresh | - | 8.0 | - | Of the stale object: HTTP version of the stored response
obj_stale.reason | STRING | backend_refresh | - | 8.0 | - | Of the stale object: reason phrase of the stored response
obj_stale.status | INT | backend_refresh | - | 8.0 | - | Of the stale object: status code of the stored response
obj_stale.storage | STEVEDORE | backend_refresh | - | 8.0 | - | Of the stale object: storage that holds it
obj_stale.time | TIME | backend_refresh | - | 8.0 | - | Of the stale object: when it was created
obj_stale.ttl | DURATION | backend_refresh | - | 8.0 | - | Of the stale object: how long it is still fresh; negative once it expired
obj_stale.uncacheable | BOOL | backend_refresh | - | 8.0 | - | Of the stale object: it is not cached: passed, or a hit-for-miss object
remote.ip | IP | client backend | - | - | - | Address at the other end of the TCP connection, such as a load balancer
req.backend_hint | BACKEND | client | client | - | - | Backend or director that bereq.backend begins with
req.can_gzip | BOOL | client | - | - | - | The client accepts gzip
req.esi | BOOL | client | client | - | 4.0 only | Process ESI tags; newer VCL sets resp.do_esi
req.esi_level | INT | client | - | - | - | Depth of this ESI include; 0 for the page itself
req.filters | STRING | recv | recv | 7.7 | - | Filters that the request body passes when it is read
req.grace | DURATION | client | client | 6.1 | - | Upper limit of grace for this request
req.hash | BLOB | hit miss pass purge deliver synth pipe | - | - | - | Hash key of the object that was looked up
req.hash_always_miss | BOOL | client | client | - | - | Fetch a new object even if there is a fresh one
req.hash_ignore_busy | BOOL | client | client | - | - | Do not wait while another request fetches the object
req.hash_ignore_vary | BOOL | client | client | 7.0 | - | Take any variant of the object, whatever its Vary
req.http.* | HEADER | client | client | - | - | Header of the request from the client
req.is_hitmiss | BOOL | miss deliver pass synth | - | 6.2 | - | The lookup hit a hit-for-miss object
req.is_hitpass | BOOL | pass deliver synth | - | 6.2 | - | The lookup hit a hit-for-pass object
req.max_age | DURATION | client | client | 9.0 | - | Oldest object that this request accepts
req.method | STRING | client | client | - | - | Method of the request: GET, HEAD, POST, …
req.proto | STRING | client | - | - | 4.1 | HTTP version of the request
req.restarts | INT | client | - | - | - | How often this request was restarted
req.storage | STEVEDORE | client | client | - | - | Storage for the body of the request
req.time | TIME | client | - | 7.1 | - | When the request was received
req.trace | BOOL | client | client | 7.4 | - | Log each VCL step of this request (VCL_trace)
req.transport | STRING | client | - | 7.1 | - | Transport of the connection: H1 or H2
req.ttl | DURATION | client | client | - | - | Upper limit of the age of objects that this request accepts
req.url | STRING | client | client | - | - | Path and query of the request
req.xid | INT | client | - | - | - | Transaction id of the request
req_top.http.* | HEADER | client | - | - | - | Header of the request for the page that includes this one by ESI
req_top.method | STRING | client | - | - | - | Method of the request for the page
req_top.proto | STRING | client | - | - | - | HTTP version of the request for the page
req_top.time | TIME | client | - | 7.1 | - | When the request for the page was received
req_top.url | STRING | client | - | - | - | Path and query of the request for the page
resp.body | BODY | - | synth | - | - | Body of the generated response
resp.do_esi | BOOL | deliver synth | deliver synth | - | 4.1 | Process the ESI tags of the object for this response
resp.filters | STRING | deliver synth | deliver synth | 6.2 | - | Filters that the body passes on its way to the client
resp.http.* | HEADER | deliver synth | deliver synth | - | - | Header of the response to the client
resp.is_streaming | BOOL | deliver synth | - | - | - | The body is still fetched while it is delivered
resp.proto | STRING | deliver synth | - | - | 4.1 | HTTP version of the response
resp.reason | STRING | deliver synth | deliver synth | - | - | Reason phrase of the response
resp.status | INT | deliver synth | deliver synth | - | - | Status code of the response
resp.time | TIME | deliver synth | - | 7.1 | - | When the response headers were ready
server.hostname | STRING | all | - | - | - | Host name of the cache's machine
server.identity | STRING | all | - | - | - | Identity of the cache: its -i, else the host name
server.ip | IP | client backend | - | - | - | Address that the client connected to, as PROXY told it or of the connection
sess.idle_send_timeout | DURATION | client | client | 6.4 | - | Longest wait while nothing of a response can be sent
sess.send_timeout | DURATION | client | client | 6.4 | - | Longest time to send a response
sess.timeout_idle | DURATION | client | client | 6.3 | - | How long an idle connection is kept open
sess.timeout_linger | DURATION | client | client | 6.4 | - | How long a thread waits for the next request of a connection
sess.xid | INT | client backend | - | - | 4.1 | Transaction id of the connection
storage.<name>.free_space | BYTES | client backend | - | - | - | Free bytes of this storage
storage.<name>.happy | BOOL | client backend | - | - | - | This storage reports no errors
storage.<name>.used_space | BYTES | client backend | - | - | - | Used bytes of this storage
`

export const vclVariables: readonly VclVariable[] = table
  .trim()
  .split('\n')
  .map((line) => {
    const [name = '', type = '', readable = '', writable = '', since, syntax, text = ''] =
      line.split(' | ')
    return {
      name,
      type,
      text,
      readable: expand(readable),
      writable: expand(writable),
      since: orNull(since),
      syntax: orNull(syntax),
    }
  })

function expand(words: string): readonly string[] {
  return words.split(' ').flatMap((word) => places[word] ?? [`vcl_${word}`])
}

function orNull(word: string | undefined): string | null {
  return word === undefined || word === '-' ? null : word
}
