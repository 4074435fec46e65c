/** Compiles a list of addresses and networks from the settings into a predicate. */
import { BlockList, isIP } from 'node:net'

export type IsListed = (address: string) => boolean

/** Members are addresses, or networks such as `10.0.0.0/8`: the settings' form was checked (config/formats.ts). */
export function compileNetworks(members: readonly string[]): IsListed {
  const list = new BlockList()
  for (const member of members) {
    const [address = '', prefix] = member.split('/')
    const family = familyOf(address)
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  // A proxy may forward any text.
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
