/**
 * What no cache is asked to compile. The bounds are from choices: 3 ("Before any cache sees a VCL"): blocks nested
 * 10,000 deep kept a manager deaf for 17 s, and the texts travel and are stored whole.
 */
import type { TextPoint } from './text-point.js'
import { lexVcl } from './vcl-lexer.js'

/** The subroutine's own block counts. */
export const nestedBlockLimit = 100
export const flattenedLimitBytes = 2 << 20
/** Include statements replaced by a file's text, repeated ones counted each time. */
export const includeExpansionLimit = 1000

/** Where the first block begins that is nested too deep; null when there is none. */
export function findTooDeepBlock(text: string): TextPoint | null {
  let depth = 0
  for (const { kind, text: written, line, position } of lexVcl(text)) {
    if (kind !== 'punctuation') continue
    if (written === '{' && ++depth > nestedBlockLimit) return { line, position }
    if (written === '}' && depth > 0) depth--
  }
  return null
}
