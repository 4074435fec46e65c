/** Extracts the IPv4 address embedded in an IPv6 address, so that address checks apply to these forms, too. */
import { isIP } from 'node:net'

export function embeddedAddresses(address: string): string[] {
  if (isIP(address) !== 6) return []
  const groups = expandGroups(address)
  const at = forms.find(({ holds }) => holds(groups))?.at
  return at === undefined ? [] : [toIPv4(groups[at], groups[at + 1])]
}

/** `at` is the index of the first group. */
const forms: readonly { readonly holds: (groups: readonly number[]) => boolean; at: number }[] = [
  // NAT64 (RFC 6052).
  { holds: ([a, b]) => a === 0x64 && b === 0xff9b, at: 6 },
  // 6to4 (RFC 3056).
  { holds: ([a]) => a === 0x2002, at: 1 },
  // ISATAP (RFC 5214).
  { holds: (groups) => groups[5] === 0x5efe && (groups[4] === 0 || groups[4] === 0x200), at: 6 },
  // IPv4-translated (RFC 2765), IPv4-mapped and IPv4-compatible (RFC 4291).
  { holds: (groups) => isZero(groups, 4) && groups[4] === 0xffff && groups[5] === 0, at: 6 },
  { holds: (groups) => isZero(groups, 5) && groups[5] === 0xffff, at: 6 },
  { holds: (groups) => isZero(groups, 6) && !isZero(groups, 7), at: 6 },
]

function isZero(groups: readonly number[], until: number): boolean {
  return groups.slice(0, until).every((group) => group === 0)
}

function expandGroups(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address.split('%', 1)[0] ?? '')
  const [a = 0, b = 0, c = 0, d = 0] = dotted?.slice(2).map(Number) ?? []
  const hex = (high: number, low: number): string => (high * 256 + low).toString(16)
  const text = dotted ? `${dotted[1] ?? ''}${hex(a, b)}:${hex(c, d)}` : address
  const [head = '', tail] = text.split('::')
  const before = head.split(':').filter(Boolean)
  const after = (tail ?? '').split(':').filter(Boolean)
  const zeros = Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  return groups.map((group) => parseInt(group, 16))
}

function toIPv4(high = 0, low = 0): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
