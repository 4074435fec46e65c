/** The words of VCL that are not variables: subroutines with their return actions, statements, functions, common module functions. */

interface VclSubroutine {
  readonly name: string
  /** The actions that `return (…)` accepts there. */
  readonly returns: readonly string[]
  readonly since: string | null
  readonly text: string
}

interface VclWord {
  readonly name: string
  /** Its syntax with the arguments. */
  readonly form: string
  readonly text: string
}

const sub = (name: string, returns: string, text: string, since: string | null = null) => ({
  name,
  text,
  since,
  returns: returns.split(' '),
})

/** In the order in which a request passes through them. */
export const vclSubroutines: readonly VclSubroutine[] = [
  sub(
    'vcl_recv',
    'hash pass pipe purge synth restart vcl fail',
    'Each request, before the lookup: normalizes it, chooses the backend, decides how it is handled',
  ),
  sub('vcl_hash', 'lookup fail', 'What makes an object distinct, by hash_data()'),
  sub('vcl_hit', 'deliver pass restart synth fail', 'The lookup found an object'),
  sub('vcl_miss', 'fetch pass restart synth fail', 'The lookup found nothing'),
  sub('vcl_pass', 'fetch restart synth fail', 'The request goes to the backend, not to the cache'),
  sub('vcl_pipe', 'pipe synth fail', 'Bytes are passed in both directions from here on'),
  sub('vcl_purge', 'synth restart fail', 'The object of the request was purged'),
  sub('vcl_synth', 'deliver restart fail', 'A response is made here: after return (synth(…))'),
  sub('vcl_deliver', 'deliver restart synth fail', 'The response, before it is sent to the client'),
  sub(
    'vcl_backend_fetch',
    'fetch abandon error fail',
    'A request to the backend, before it is sent',
  ),
  sub(
    'vcl_backend_response',
    'deliver pass retry abandon error fail',
    'The headers of a backend response came: sets TTL and grace, decides what is cached',
  ),
  sub(
    'vcl_backend_error',
    'deliver retry abandon fail',
    'The fetch failed: a response is made here',
  ),
  sub(
    'vcl_backend_refresh',
    'merge obj_stale beresp retry abandon error fail',
    'The backend answered 304 to a conditional fetch',
    '8.0',
  ),
  sub('vcl_init', 'ok fail', 'The VCL is loaded: makes directors and other objects'),
  sub('vcl_fini', 'ok', 'The VCL is discarded'),
]

const word = (name: string, form: string, text: string): VclWord => ({ name, form, text })

export const vclWords: readonly VclWord[] = [
  word('acl', 'acl name { "10.0.0.0"/8; }', 'A list of addresses, matched by client.ip ~ name'),
  word('backend', 'backend name { .host = "…"; .port = "…"; }', 'A server that content comes from'),
  word('probe', 'probe name { .url = "/"; }', 'How the health of a backend is tested'),
  word(
    'sub',
    'sub name { … }',
    'A subroutine; those whose names begin with vcl_ are called by the cache',
  ),
  word('include', 'include "file.vcl";', 'Puts the text of another file here'),
  word('import', 'import name;', 'Loads a module'),
  word('set', 'set variable = value;', 'Gives a variable another value'),
  word('unset', 'unset variable;', 'Removes a header, or a value'),
  word('call', 'call name;', 'Runs a subroutine'),
  word('return', 'return (action);', 'Ends the subroutine with what happens next'),
  word('new', 'new name = module.type();', 'Makes an object, in vcl_init'),
  word('if', 'if (condition) { … }', 'Runs a block when the condition is true'),
  word('else', 'else { … }', 'Runs a block when the condition is false'),
  word(
    'elseif',
    'elseif (condition) { … }',
    'Another condition, tried when those before are false',
  ),
  word('synthetic', 'synthetic("text");', 'The body of a response that is made here'),
  word('ban', 'ban("expression");', 'Removes what matches the expression'),
  word('hash_data', 'hash_data(string);', 'Adds to the hash key; in vcl_hash only'),
  word('regsub', 'regsub(string, "regex", "replacement")', 'Replaces the first match'),
  word('regsuball', 'regsuball(string, "regex", "replacement")', 'Replaces every match'),
  word('std.log', 'std.log("text");', 'Writes to the log of the cache, as VCL_Log'),
  word('std.syslog', 'std.syslog(priority, "text");', 'Writes to syslog'),
  word('std.tolower', 'std.tolower(string)', 'In lower case'),
  word('std.toupper', 'std.toupper(string)', 'In upper case'),
  word('std.querysort', 'std.querysort(string)', 'A URL with its query in one order'),
  word('std.duration', 'std.duration(string, fallback)', 'A duration such as 10s from a text'),
  word('std.integer', 'std.integer(string, fallback)', 'A whole number from a text'),
  word('std.ip', 'std.ip(string, fallback)', 'An address from a text'),
  word('std.port', 'std.port(ip)', 'The port of an address'),
  word('std.healthy', 'std.healthy(backend)', 'Whether a backend or director is healthy'),
  word('std.collect', 'std.collect(header, separator);', 'Joins headers of one name into one'),
  word(
    'std.cache_req_body',
    'std.cache_req_body(bytes)',
    'Keeps the body of the request, so that it can be sent again',
  ),
  word('std.random', 'std.random(low, high)', 'A random number'),
  word('std.file_exists', 'std.file_exists(path)', 'Whether a file is there'),
  word(
    'directors.round_robin',
    'new name = directors.round_robin();',
    'Backends one after the other',
  ),
  word('directors.random', 'new name = directors.random();', 'Backends at random, by weight'),
  word('directors.fallback', 'new name = directors.fallback();', 'The first healthy backend'),
  word('directors.hash', 'new name = directors.hash();', 'The backend by the hash of a string'),
  word('directors.shard', 'new name = directors.shard();', 'The backend by consistent hashing'),
]
