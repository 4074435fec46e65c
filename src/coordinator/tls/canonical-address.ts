/** Normalizes an address to the form of a URL's host, in which IPv6 is hexadecimal and short. */
import { isIPv6 } from 'node:net'

export function canonicalAddress(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}
