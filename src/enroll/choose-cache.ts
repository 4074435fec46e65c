/** Selects one of the caches running here, and reads from its command line what an agent needs. Pure. */
import { basename } from 'node:path'
import type { RunningCache } from '../agent/host/running-caches.js'
import { EnrollError } from './enroll-error.js'

/** `instance`: the last part of its `-n`; null: there is only one cache. Throws EnrollError. */
export function chooseCache(
  caches: readonly RunningCache[],
  instance: string | null,
): RunningCache {
  if (caches.length === 0)
    throw new EnrollError('no cache runs on this host: start varnishd or vinyld, then enrol it')
  const meant = instance === null ? caches : caches.filter((cache) => nameOf(cache) === instance)
  const [first, ...others] = meant
  if (first !== undefined && others.length === 0) return first
  const [only] = caches
  if (instance !== null && caches.length === 1 && only?.workingDirectory === null) return only
  const running = caches.map(describe).join(', ')
  throw new EnrollError(
    instance === null
      ? `several caches run here (${running}): name one by the last part of its -n, with --instance NAME`
      : `${meant.length === 0 ? 'no cache' : 'more than one cache'} that runs here has a -n that ends in ${instance}: ${running}`,
  )
}

function nameOf({ workingDirectory }: RunningCache): string | null {
  return workingDirectory === null ? null : basename(workingDirectory)
}

function describe({ pid, program, workingDirectory }: RunningCache): string {
  return `pid ${pid}: ${basename(program)}${workingDirectory === null ? '' : ` -n ${workingDirectory}`}`
}

/** `HOST:PORT` of the management port, in the format of the setting. Throws EnrollError. */
export function findManagementAddress({ pid, managementPorts }: RunningCache): string {
  const found = managementPorts.map((text) => parseAddress(text)).find((one) => one !== null)
  if (found?.port != null && found.port > 0) return `${found.host}:${found.port}`
  throw new EnrollError(
    `the cache of pid ${pid} has no management port of a fixed number: start it with -T 127.0.0.1:6082`,
  )
}

const httpPort = 80
const withoutHttp: ReadonlySet<string> = new Set(['proxy', 'https', 'ssl', 'tls'])

/** Where the cache accepts plain HTTP, for purges; null: nowhere, or unknown. */
export function findHttpAddress({ listenAddresses }: RunningCache): string | null {
  for (const text of listenAddresses) {
    // `[name=]address[,PROTO][,option=value …]` (varnishd(1), -a).
    const [address = '', ...options] = text.replace(/^[A-Za-z]\w*=/, '').split(',')
    if (options.some((option) => withoutHttp.has(option.toLowerCase()))) continue
    const found = parseAddress(address)
    if (found) return `${found.host}:${found.port ?? httpPort}`
  }
  return null
}

interface Address {
  readonly host: string
  /** Null: not specified. */
  readonly port: number | null
}

/** `host:port`, `host port`, `[v6]:port`, `:port`, `host` (vtcp.c); null for a path and for `none`. */
function parseAddress(text: string): Address | null {
  if (/^[/@]/.test(text) || text === 'none') return null
  const [, v6, name, digits] =
    /^(?:\[([\da-fA-F:.]+)\]|([^\s:[\]]*))(?:[: ](\d{1,5}))?$/.exec(text) ?? []
  if (v6 === undefined && name === undefined) return null
  const port = digits === undefined ? null : Number(digits)
  return { host: toDialled(v6 ?? name ?? ''), port }
}

/** A listener on all addresses also listens on loopback. */
function toDialled(host: string): string {
  if (host === '' || host === '0.0.0.0' || host === '*') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** Major versions that cachefleet is tested with. */
const known: Readonly<Record<string, readonly [from: number, to: number]>> = {
  varnish: [6, 9],
  vinyl: [9, 9],
}

/** `product`: its short name, or another product's own name. Throws EnrollError. */
export function requireKnownRelease(product: string, version: string | null): void {
  const [from, to] = known[product] ?? [1, 0]
  const major = Number(/^\d+/.exec(version ?? '')?.[0] ?? 0)
  if (major >= from && major <= to) return
  throw new EnrollError(
    `the cache is ${product || 'of no known make'} ${version ?? 'of no release'}; cachefleet knows Varnish 6.0 to 9.x and Vinyl Cache 9.x: ` +
      'upgrade one of both, or set the agent up by hand to try it',
  )
}
