/** Parses a domain name as the API does; `whenRefused` returns null for an invalid one. */
import { domainToASCII } from 'node:url'
import { parseDomainName } from '../../src/resources/domain-name.js'

export const parse = (text: string): string => parseDomainName(text, domainToASCII)
export const whenRefused = (text: string): string | null => {
  try {
    return parse(text)
  } catch {
    return null
  }
}
