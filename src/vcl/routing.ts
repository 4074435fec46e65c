/**
 * Generates the VCL that routes each request to the group of its Host (docs/behaviour.md, Routing): exact names before wildcards, the
 * longest wildcard first, case, port and a trailing dot ignored; a missing or unknown Host gets a 404. It only routes: its changes to a
 * request do not exist in the group's VCL (cache_req_fsm.c cnt_recv). It uses statements that every release from 6.0 to 8.x compiles, with
 * one `if` per name, because a chain of `elsif` would nest in the compiler.
 */
import { createHash } from 'node:crypto'
import { isDomainName, wildcardBase } from '../resources/domain-name.js'

export interface Route {
  readonly fqdn: string
  readonly groupId: number
  /** The route leads to the group's stage. */
  readonly stage?: boolean
}

export interface RoutingVcl {
  /** Name on the cache: `cf-r-<sha8>`. */
  readonly name: string
  /** SHA-256 (hex) of the text. */
  readonly sha: string
  readonly text: string
}

/** The label of a group's VCL, or of its stage's VCL. */
export function labelName(groupId: number, stage = false): string {
  return `cf-${stage ? 's' : 'l'}-${groupId}`
}

/** Independent of the order of the routes. */
export function makeRoutingVcl(routes: readonly Route[]): RoutingVcl {
  const text = renderRouting(routes)
  const sha = createHash('sha256').update(text).digest('hex')
  return { name: `cf-r-${sha.slice(0, 8)}`, sha, text }
}

function renderRouting(routes: readonly Route[]): string {
  const exact = routes.filter(({ fqdn }) => wildcardBase(fqdn) === null)
  const wildcards = routes.filter(({ fqdn }) => wildcardBase(fqdn) !== null)
  return [
    'vcl 4.0;',
    '',
    'import std;',
    '',
    // Never used; 6.0 does not know `none`.
    'backend default { .host = "127.0.0.1"; .port = "9"; }',
    '',
    'sub vcl_recv {',
    `  set ${hostHeader} = regsub(std.tolower(req.http.Host), "\\.?(:[0-9]*)?$", "");`,
    // Ensures that a wildcard matches whole labels only.
    `  if (${hostHeader} !~ "^[a-z0-9_-]+(\\.[a-z0-9_-]+)*$") { return (synth(404)); }`,
    ...exact.toSorted(byName).map(routeLine),
    ...wildcards.toSorted((a, b) => b.fqdn.length - a.fqdn.length || byName(a, b)).map(routeLine),
    '  return (synth(404));',
    '}',
    '',
  ].join('\n')
}

/** The requested host name, normalized for comparison. */
const hostHeader = 'req.http.X-Cachefleet-Host'

function routeLine({ fqdn, groupId, stage }: Route): string {
  // Guards against invalid host names from any source.
  if (!isDomainName(fqdn) || !Number.isSafeInteger(groupId))
    throw new Error(`${JSON.stringify(fqdn)} of group ${groupId} cannot be routed`)
  const base = wildcardBase(fqdn)
  const isMatch =
    base === null
      ? `${hostHeader} == "${fqdn}"`
      : `${hostHeader} ~ "\\.${base.replaceAll('.', '\\.')}$"`
  return `  if (${isMatch}) { return (vcl(${labelName(groupId, stage)})); }`
}

/** Reads the routes from a text of `makeRoutingVcl`, in order: the first match serves the name. */
export function readRoutes(text: string): readonly Route[] {
  const exact =
    /^ {2}if \(req\.http\.X-Cachefleet-Host == "([^"]+)"\) \{ return \(vcl\(cf-([ls])-(\d+)\)\); \}$/gm
  const wildcard =
    /^ {2}if \(req\.http\.X-Cachefleet-Host ~ "\\\.([^"]+)\$"\) \{ return \(vcl\(cf-([ls])-(\d+)\)\); \}$/gm
  const toRoute = (fqdn: string, [, , kind, id]: RegExpExecArray): Route => ({
    fqdn,
    groupId: Number(id),
    stage: kind === 's',
  })
  return [
    ...[...text.matchAll(exact)].map((found) => toRoute(found[1] ?? '', found)),
    ...[...text.matchAll(wildcard)].map((found) =>
      toRoute(`*.${(found[1] ?? '').replaceAll('\\.', '.')}`, found),
    ),
  ]
}

function byName(a: Route, b: Route): number {
  if (a.fqdn === b.fqdn) return a.groupId - b.groupId
  return a.fqdn < b.fqdn ? -1 : 1
}
