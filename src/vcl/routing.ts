/**
 * The generated VCL that hands each request to the group of its Host (docs/behaviour.md, Routing): exact names before
 * wildcards, the longest wildcard first, case, port and a trailing dot of Host ignored; no Host or no match is 404.
 *
 * It only routes: what it changes in a request is gone in the group's VCL (cache_req_fsm.c cnt_recv). Statements that
 * every release from 6.0 to 8.x compiles, one `if` for each name: a chain of `elsif` would nest in the compiler.
 */
import { createHash } from 'node:crypto'
import { isDomainName, wildcardBase } from '../resources/domain-name.js'

export interface Route {
  readonly fqdn: string
  readonly groupId: number
  /** The group's stage answers. */
  readonly stage?: boolean
}

export interface RoutingVcl {
  /** On the cache: `cf-r-<sha8>`. */
  readonly name: string
  /** SHA-256 (hex) of the text. */
  readonly sha: string
  readonly text: string
}

/** The label that stands for a group's VCL, or for that of its stage. */
export function labelName(groupId: number, stage = false): string {
  return `cf-${stage ? 's' : 'l'}-${groupId}`
}

/** The same routes make the same text, in whatever order they come. */
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
    // Never asked; `none` is not known to 6.0.
    'backend default { .host = "127.0.0.1"; .port = "9"; }',
    '',
    'sub vcl_recv {',
    `  set ${hostHeader} = regsub(std.tolower(req.http.Host), "\\.?(:[0-9]*)?$", "");`,
    // So that a wildcard covers whole labels and nothing else.
    `  if (${hostHeader} !~ "^[a-z0-9_-]+(\\.[a-z0-9_-]+)*$") { return (synth(404)); }`,
    ...exact.toSorted(byName).map(routeLine),
    ...wildcards.toSorted((a, b) => b.fqdn.length - a.fqdn.length || byName(a, b)).map(routeLine),
    '  return (synth(404));',
    '}',
    '',
  ].join('\n')
}

/** The name that was asked for, as it is compared. */
const hostHeader = 'req.http.X-Cachefleet-Host'

function routeLine({ fqdn, groupId, stage }: Route): string {
  // Whatever wrote it: a text that is not a name of a host does not reach a cache.
  if (!isDomainName(fqdn) || !Number.isSafeInteger(groupId))
    throw new Error(`${JSON.stringify(fqdn)} of group ${groupId} cannot be routed`)
  const base = wildcardBase(fqdn)
  const isMatch =
    base === null
      ? `${hostHeader} == "${fqdn}"`
      : `${hostHeader} ~ "\\.${base.replaceAll('.', '\\.')}$"`
  return `  if (${isMatch}) { return (vcl(${labelName(groupId, stage)})); }`
}

/** The routes of a text that `makeRoutingVcl` made, in its order: the first that fits a name answers for it. */
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
