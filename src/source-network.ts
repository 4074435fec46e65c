/** The network of an address: all addresses that one host can use count as one for per-address limits. */

const mappedPattern = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The /64 of an IPv6 address. Text that is not an address is returned unchanged. */
export function networkOf(address: string): string {
  const mapped = mappedPattern.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const groups = head.split(':').filter(Boolean)
  const after = (tail ?? '').split(':').filter(Boolean)
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length)
  return [...groups, ...Array.from({ length: zeros }, () => '0'), ...after].slice(0, 4).join(':')
}
