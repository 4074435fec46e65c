/** Known traffic through a real cache, and the samples its agent sent. */
import type { Test } from 'tap'
import type { Samples } from '../../../src/messages/agent-to-coordinator.js'
import { ask, startOrigin, type Origin } from '../../end-to-end/origin.js'
import type { Varnishd } from '../../support/varnishd.js'
import type { CoordinatorEnd } from '../coordinator-end.js'

export function fetchingFrom(origin: Pick<Origin, 'port'>): string {
  return `vcl 4.1;\nbackend origin { .host = "127.0.0.1"; .port = "${origin.port}"; }\nsub vcl_backend_response { set beresp.ttl = 1h; }\n`
}

export async function startTraffic(t: Test): Promise<{
  readonly vcl: string
  /** Requests each path the given number of times: first a miss, then hits. */
  readonly send: (cache: Varnishd, paths: number, times: number) => Promise<void>
}> {
  const origin = await startOrigin(t, 'counters')
  let sent = 0
  const send = async (cache: Varnishd, paths: number, times: number): Promise<void> => {
    sent += 1
    for (let path = 0; path < paths; path++)
      for (let time = 0; time < times; time++) {
        const { status } = await ask(cache, 'counted.example', { path: `/${sent}/${path}` })
        if (status !== 200) throw new Error(`the cache answered ${status}`)
      }
  }
  return { vcl: fetchingFrom(origin), send }
}

interface KnownSample {
  readonly at: number
  readonly live: boolean
  readonly hasNames: boolean
  readonly rates: ReadonlyMap<string, number | null>
}

/** In order of arrival, with the names last sent. */
export function listSamples({ received }: CoordinatorEnd): readonly KnownSample[] {
  let names: readonly string[] = []
  return received
    .filter((message): message is Samples => message.kind === 'samples')
    .map((sample) => {
      names = sample.names ?? names
      return {
        at: sample.at,
        live: sample.live,
        hasNames: sample.names !== undefined,
        rates: new Map(names.map((name, index) => [name, sample.values[index] ?? null])),
      }
    })
}

/** Total events that the regular samples (not the live ones) add up to. */
export function countEvents(samples: readonly KnownSample[], name: string): number {
  const regular = samples.filter(({ live }) => !live)
  let sum = 0
  for (const [index, { at, rates }] of regular.entries()) {
    const before = regular[index - 1]
    if (before) sum += ((rates.get(name) ?? 0) * (at - before.at)) / 1000
  }
  return sum
}
