/**
 * Decides which addresses a webhook may be sent to (docs/behaviour.md, Webhooks): public addresses, and those that the settings
 * allow. Pure; applied to the resolved addresses, which are then the ones connected to.
 */
import { BlockList, isIP } from 'node:net'
import { embeddedAddresses } from '../http/embedded-addresses.js'
import { compileNetworks, type IsListed } from '../http/networks.js'

export interface AddressRules {
  /** `--webhook-networks`: allowed for all webhooks, regardless of the rules below. */
  readonly isAllowed: IsListed
  /** True for the system administrator's own webhooks: private networks and http are allowed. */
  readonly isAdministrators: boolean
}

/** Returns null if the address may be called, else the reason. */
export function findTargetProblem(address: string, protocol: string, rules: AddressRules) {
  if (isIP(address) === 0) return 'it is not an address'
  if (rules.isAllowed(address)) return null
  // An embedded IPv4 address is judged too, whatever the translation.
  const ranges = [address, ...embeddedAddresses(address)].map(findRange)
  const special = ranges.find((range) => range === 'special') ?? ranges.find((range) => range)
  if (special && !(special === 'private' && rules.isAdministrators)) return refusals[special]
  return protocol === 'http:' && !rules.isAdministrators ? httpRefusal : null
}

const refusals = {
  private: 'its address is in a private network, which --webhook-networks does not allow',
  special: 'its address is link-local, a metadata service or another special one',
} as const
export const httpRefusal = 'use https; http is only for networks that --webhook-networks allows'

type Range = keyof typeof refusals

/** Returns null for a public address. */
function findRange(address: string): Range | null {
  if (metadata(address)) return 'special'
  if (privateNetworks(address)) return 'private'
  if (isIP(address) === 4) return specialNetworks(address) ? 'special' : null
  // Addresses outside the ranges assigned to the internet are refused, except translations to IPv4.
  const isReachable = isUnicast(address) || translated.check(address, 'ipv6')
  return isReachable && !specialNetworks(address) ? null : 'special'
}

/** Special-purpose addresses (RFC 6890) that may belong to an internal host. */
const privateNetworks = compileNetworks([
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '127.0.0.0/8'],
  ...['fc00::/7', '::1'],
])

/** Unspecified, multicast and reserved addresses. */
const specialNetworks = compileNetworks([
  ...['0.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['2001::/23', '2001:db8::/32', '3fff::/20'],
])

/** Metadata services of Alibaba, Oracle and Azure's host; of Amazon and Google by IPv6. The others are link-local. */
const metadata = compileNetworks([
  ...['100.100.100.200', '192.0.0.192', '168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'],
])

const isUnicast = compileNetworks(['2000::/3'])

/** NAT64 and IPv4-mapped addresses, judged by the embedded address. */
const translated = new BlockList()
translated.addSubnet('64:ff9b::', 96, 'ipv6')
translated.addSubnet('::ffff:0:0', 96, 'ipv6')
