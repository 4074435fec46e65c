/** Resolves the host of an outgoing call once and checks the addresses; the connection uses exactly these addresses. */
import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'

export type ResolveName = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

interface JudgedLookup {
  /** Returns null if the address may be called, else the reason. */
  readonly judge: (address: string) => string | null
  readonly toError: (problem: string) => Error
  /** The system's resolver, unless a test provides one. */
  readonly resolveName?: ResolveName
}

/** Refuses a name if any of its addresses may not be called, because the connection may use any of them. */
export function createJudgedLookup({
  judge,
  toError,
  resolveName = lookup,
}: JudgedLookup): LookupFunction {
  return (hostname, options, done) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) {
        done(error, '')
        return
      }
      const refused = addresses.map(({ address }) => judge(address)).find((one) => one !== null)
      const [first] = addresses
      if (refused) done(toError(refused), '')
      else if (!first) done(toError('its name has no address'), '')
      else if (options.all) done(null, addresses)
      else done(null, first.address, first.family)
    })
  }
}
