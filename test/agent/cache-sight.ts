/** What tests see of a real cache without the agent: its VCLs, what it serves; and VCL texts with a mark. */
import { get } from 'node:http'
import type { DesiredEngine, DesiredProgram } from '../../src/domain/desired-engine.js'
import type { Varnishd } from '../support/varnishd.js'

/** Answers by itself, marked. */
export const answering = (mark: string): string =>
  `vcl 4.1;\nbackend default none;\nsub vcl_recv { return (synth(200, "${mark}")); }\nsub vcl_synth { set resp.http.X-Marker = "${mark}"; return (deliver); }\n`

export const idle: DesiredEngine = { load: [], labels: [], active: 'cf-idle' }

/** The first one is active. */
export const serving = (...load: DesiredProgram[]): DesiredEngine => ({
  load,
  labels: [],
  active: load[0]?.name ?? 'cf-idle',
})

/** Names that are not discarded, sorted. */
export async function listVcls(cache: Varnishd): Promise<string[]> {
  const rows = JSON.parse(await cache.adm('vcl.list', '-j')) as unknown[] // the envelope of -j
  return (rows.slice(3) as { name: string; status: string }[])
    .filter((row) => row.status !== 'discarded')
    .map((row) => row.name)
    .toSorted()
}

/** Status 0 when nobody answers. */
export function fetchMark(
  at: Pick<Varnishd, 'host' | 'httpPort'>,
): Promise<{ status: number; mark: string | undefined }> {
  return new Promise((resolve) => {
    get({ host: at.host, port: at.httpPort, agent: false }, (response) => {
      response.resume()
      const mark = response.headers['x-marker']?.toString()
      resolve({ status: response.statusCode ?? 0, mark })
    }).on('error', () => {
      resolve({ status: 0, mark: undefined })
    })
  })
}

/** As varnishadm needs it on its command line. */
export const quoted = (text: string): string => JSON.stringify(text)
