/**
 * What no cache is asked to compile. The bounds are from docs/behaviour.md, VCL limits: blocks nested
 * 10,000 deep kept a manager deaf for 17 s, and the texts travel and are stored whole.
 */
/** The subroutine's own block counts. */
export const nestedBlockLimit = 100
export const flattenedLimitBytes = 2 << 20
/** Include statements replaced by a file's text, repeated ones counted each time. */
export const includeExpansionLimit = 1000
