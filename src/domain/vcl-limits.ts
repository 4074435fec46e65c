/**
 * What no cache is asked to compile. The bounds are from choices: 3 ("Before any cache sees a VCL"): blocks nested
 * 10,000 deep kept a manager deaf for 17 s, and the texts travel and are stored whole.
 */
import type { Token } from './vcl-lexer.js'

/** The subroutine's own block counts. */
export const nestedBlockLimit = 100
export const flattenedLimitBytes = 2 << 20
/** Include statements replaced by a file's text, repeated ones counted each time. */
export const includeExpansionLimit = 1000

/** Says of each token whether it begins the block that is nested too deep. */
export function createDepthCheck(): (token: Token) => boolean {
  let depth = 0
  return ({ kind, text }) => {
    if (kind !== 'punctuation') return false
    if (text === '}' && depth > 0) depth--
    return text === '{' && ++depth === nestedBlockLimit + 1
  }
}
