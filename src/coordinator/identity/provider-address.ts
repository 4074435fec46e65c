/**
 * Which addresses of an identity provider may be called: https, or http on loopback; no link-local address, no metadata service
 * (docs/behaviour.md, Identity providers). Checked when the address is stored, and again for the resolved addresses on every
 * call.
 */
import { BlockList, isIP } from 'node:net'
import { FleetError } from '../../errors.js'
import { embeddedAddresses } from '../http/embedded-addresses.js'

const urlLimit = 2000
const discoveryPath = '/.well-known/openid-configuration'

/** The names of clouds' metadata services. */
export const metadataNames = new Set(
  ['metadata', 'metadata.google.internal', 'metadata.goog'].concat([
    'instance-data',
    'instance-data.ec2.internal',
  ]),
)

/** Normalizes the URL: drops the discovery document's path and a lone slash. Throws FleetError 'invalid' that says what is valid. */
export function parseBaseUrl(text: string): string {
  if (text.length > urlLimit || !URL.canParse(text))
    throw refused('it is not a URL; https://idp.example.com/realm is one')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw refused('it holds a name or a password; clientID and clientSecret are for that')
  if (url.search !== '' || url.hash !== '') throw refused('it has a query or a fragment')
  const problem = findUrlProblem(url)
  if (problem !== null) throw refused(problem)
  if (url.pathname.endsWith(discoveryPath))
    url.pathname = url.pathname.slice(0, -discoveryPath.length)
  if (url.pathname.includes('/.well-known/'))
    throw refused('leave out what begins with /.well-known/')
  return url.pathname === '/' ? url.origin : url.href
}

/** Checks only the URL itself, without resolving its name. Null: it may be called. */
export function findUrlProblem({ protocol, hostname }: URL): string | null {
  const host = plainHost(hostname)
  if (protocol !== 'https:' && protocol !== 'http:')
    return `${protocol} is not supported; use https, or http on loopback`
  if (metadataNames.has(host.replace(/\.$/, ''))) return notCalled
  if (isIP(host) !== 0) return findAddressProblem(host, protocol)
  const isLoopback = /^(?:.+\.)?localhost\.?$/.test(host)
  return protocol === 'http:' && !isLoopback ? httpsNeeded : null
}

/** For an IP address in the URL or one that its name resolved to. Null: it may be called. */
export function findAddressProblem(address: string, protocol: string): string | null {
  const forms = [address, ...embeddedAddresses(address)]
  if (forms.some((form) => isListed(refusedAddresses, form))) return notCalled
  return protocol === 'http:' && !isListed(loopback, address) ? httpsNeeded : null
}

export function plainHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').toLowerCase()
}

const notCalled = 'link-local, metadata and other special addresses are not allowed'
const httpsNeeded = 'http is allowed on loopback only; use https'

function refused(problem: string): FleetError {
  return new FleetError('invalid', 'idp', `baseURL: ${problem}`)
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const refusedAddresses = new BlockList()
// Link-local, with the metadata services of most clouds; this host, multicast, reserved, broadcast.
for (const [network, bits] of [
  ['169.254.0.0', 16],
  ['0.0.0.0', 8],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  refusedAddresses.addSubnet(network, bits, 'ipv4')
for (const [network, bits] of [
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  refusedAddresses.addSubnet(network, bits, 'ipv6')
// Metadata services at other addresses: Alibaba, Oracle, Azure's host; Amazon and Google over IPv6.
for (const address of ['100.100.100.200', '192.0.0.192', '168.63.129.16'])
  refusedAddresses.addAddress(address, 'ipv4')
for (const address of ['::', 'fd00:ec2::254', 'fd20:ce::254'])
  refusedAddresses.addAddress(address, 'ipv6')

/** The list itself treats an IPv4-mapped IPv6 address (`::ffff:`) as the IPv4 address. */
function isListed(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}
