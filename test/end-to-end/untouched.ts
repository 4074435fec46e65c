/** The state of a cache that an attack would change: its processes, its parameters, its VCLs. */
import type { Varnishd } from '../support/varnishd.js'

export interface Facts {
  readonly pids: string
  readonly params: string
  readonly vcls: readonly string[]
}

export async function readFacts(cache: Varnishd): Promise<Facts> {
  const vcls = await cache.adm('vcl.list')
  return {
    pids: await cache.adm('pid'),
    params: await cache.adm('param.show', 'changed'),
    // Without values that change by themselves: temperature and references.
    vcls: vcls.split('\n').map((row) => row.trim().replace(/^(\S+).*?(\S+)$/, '$1 $2')),
  }
}
