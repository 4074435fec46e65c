/** A real cache observed without the agent: its VCLs and responses; and VCL texts with a mark. */
import { connect } from 'node:net'
import type { DesiredEngine, DesiredProgram } from '../../src/vcl/desired-engine.js'
import type { Varnishd } from './varnishd.js'

/** A VCL that responds without a backend, with the mark. */
export const answering = (mark: string): string =>
  `vcl 4.1;\nbackend default none;\nsub vcl_recv { return (synth(200, "${mark}")); }\nsub vcl_synth { set resp.http.X-Marker = "${mark}"; return (deliver); }\n`

export const idle: DesiredEngine = { load: [], labels: [], active: 'cf-idle' }

/** The first one is active. */
export const serving = (...load: DesiredProgram[]): DesiredEngine => ({
  load,
  labels: [],
  active: load[0]?.name ?? 'cf-idle',
})

/** Names of VCLs that are not discarded, sorted. */
export async function listVcls(cache: Varnishd): Promise<string[]> {
  const rows = JSON.parse(await cache.ask('vcl.list', '-j')) as unknown[] // the envelope of -j
  return (rows.slice(3) as { name: string; status: string }[])
    .filter((row) => row.status !== 'discarded')
    .map((row) => row.name)
    .toSorted()
}

/**
 * Status 0 without a response. Tests under load call it a hundred times a second, so it does without node:http, which takes
 * seven times as long.
 */
export function fetchMark(
  { host, httpPort }: Pick<Varnishd, 'host' | 'httpPort'>,
  name = `${host}:${httpPort}`,
): Promise<{ status: number; mark: string | undefined }> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(httpPort, host)
    const end = (): void => {
      const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]
      const mark = /^X-Marker: (.*)\r$/im.exec(text)?.[1]
      resolve(text.includes('\r\n\r\n') ? { status: Number(status), mark } : nobody)
      socket.destroy()
    }
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece
      if (text.includes('\r\n\r\n')) end()
    })
    socket.on('error', () => undefined).on('close', end)
    socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
  })
}

const nobody = { status: 0, mark: undefined }

/** Quoted for varnishadm's command line. */
export const quoted = (text: string): string => JSON.stringify(text)
