/** How a call of ours finds its address: the name is resolved once, judged, and what was judged is what is connected to. */
import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'

export type ResolveName = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

interface JudgedLookup {
  /** Null: it may be called. */
  readonly judge: (address: string) => string | null
  readonly toError: (problem: string) => Error
  /** The system's unless a test gives its own. */
  readonly resolveName?: ResolveName
}

/** Refuses the name when one of its addresses may not be called: which of them is connected to is not ours to choose. */
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
