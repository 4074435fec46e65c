/**
 * Limits of the VCL that caches have to compile, from docs/behaviour.md, VCL limits: blocks nested 10,000 deep made a manager unresponsive
 * for 17 s, and texts are sent and stored as a whole.
 */
/** Includes the subroutine's own block. */
export const nestedBlockLimit = 100
export const flattenedLimitBytes = 2 << 20
/** Include statements replaced by a file's text; repeated includes count each time. */
export const includeExpansionLimit = 1000
