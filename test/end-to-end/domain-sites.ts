/** Two groups with domains, each with its own origin. */
import type { Test } from 'tap'
import { listVcls } from '../support/observe-cache.js'
import type { Varnishd } from '../support/varnishd.js'
import { startOrigin, type Origin } from './origin.js'
import type { Harness } from './harness.js'

interface Site {
  readonly id: number
  readonly name: string
  readonly file: number
  readonly deployment: number
  readonly origin: Origin
  /** fqdn → id. */
  readonly domains: Readonly<Record<string, number>>
}

export type Sites = Readonly<Record<'shop' | 'blog', Site>>

const namesOf = {
  shop: ['shop.example', '*.wild.example', 'x.deep.wild.example'],
  blog: ['blog.example', 'one.wild.example', '*.deep.wild.example'],
} as const

/** As far as its author can tell, all requests have the same hash, and all responses are cached. */
export const caching = (site: string, port: number, mark = site): string => `vcl 4.1; # ${site};
backend origin { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_hash { hash_data("same"); return (lookup); }
sub vcl_backend_response { set beresp.ttl = 1h; return (deliver); }
sub vcl_deliver { set resp.http.X-Marker = "${mark}"; set resp.http.X-Hits = obj.hits; }
`

export async function makeSite(t: Test, { api }: Harness, name: 'shop' | 'blog'): Promise<Site> {
  const origin = await startOrigin(t, name)
  const file = await api.makeFile(`${name}.vcl`, caching(name, origin.port))
  const deployment = await api.makeDeployment(name, await api.findTag('web'))
  const domains: Record<string, number> = {}
  for (const fqdn of namesOf[name]) domains[fqdn] = await api.make('/domains', { fqdn })
  const id = await api.make('/vclgroups', {
    name,
    mainVCL: { id: file },
    deployments: [{ id: deployment }],
    domains: Object.values(domains).map((domain) => ({ id: domain })),
  })
  return { id, name, file, deployment, origin, domains }
}

/** Only the cache's administrator can read it. */
export async function readCacheKey(cache: Varnishd, { id }: Site): Promise<string> {
  const name = (await listVcls(cache)).find((one) => one.startsWith(`cf-${id}-`)) ?? ''
  const [, key = ''] = /hash_data\("([0-9a-f]{32})"\)/.exec(await cache.adm('vcl.show', name)) ?? []
  return key
}
