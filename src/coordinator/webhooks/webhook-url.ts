/** Parses the URL of a webhook: judges its target as far as the URL alone reveals it, and returns the part that is not secret. */
import { isIP } from 'node:net'
import { FleetError } from '../../errors.js'
import { metadataNames, plainHost } from '../identity/provider-address.js'
import { findTargetProblem, httpRefusal, type AddressRules } from './judge-address.js'

interface ParsedUrl {
  readonly whole: string
  /** Scheme, host and port. */
  readonly origin: string
}

/** `hasNetworks`: `--webhook-networks` allows some networks; the addresses of a name are judged at each call. Throws 'invalid'. */
export function parseWebhookUrl(
  text: string,
  rules: AddressRules & { readonly hasNetworks: boolean },
): ParsedUrl {
  if (!URL.canParse(text)) throw refused('it is not a URL; https://hooks.example.com/fleet is one')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw refused(
      'it must not hold a name or a password; put the secret into the path, which is stored sealed',
    )
  if (url.hash !== '') throw refused('it has a fragment, which is never sent')
  const problem = findUrlProblem(url, rules)
  if (problem !== null) throw refused(problem)
  return { whole: url.href, origin: url.origin }
}

/** Judges by the URL alone. Null: it may be called. */
export function findUrlProblem(
  { protocol, hostname }: URL,
  rules: AddressRules & { readonly hasNetworks: boolean },
): string | null {
  const host = plainHost(hostname)
  if (protocol !== 'https:' && protocol !== 'http:')
    return `${protocol} is not supported; use https`
  if (metadataNames.has(host.replace(/\.$/, ''))) return 'it names a metadata service'
  if (isIP(host) !== 0) return findTargetProblem(host, protocol, rules)
  const mayBePlain = rules.isAdministrators || rules.hasNetworks
  return protocol === 'http:' && !mayBePlain ? httpRefusal : null
}

function refused(problem: string): FleetError {
  return new FleetError('invalid', 'webhook', `url: ${problem}`)
}
