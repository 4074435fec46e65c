/** What differs between the engine's releases, for the ones a simulated engine can be (management-protocol: 6). */

export interface EngineRelease {
  readonly version: string
  /** major * 100 + minor: 600, 701, 705. */
  readonly number: number
  /** Quotes between words: not checked before 7.0; 7.0 to 7.4 refuse neighbours; later only touching ones. */
  readonly quoting: Quoting
  /** Errors before the command is known begin with "Unknown request" (until 7.4). */
  readonly isUnknownPrefixed: boolean
  readonly cliLimit: string
  /** vcl.list prints state and temperature as one field, backend.list four columns (6.0). */
  readonly hasOldLists: boolean
}

export type Quoting = 'loose' | 'neighbours' | 'touching'

export function parseRelease(version: string): EngineRelease {
  const match = /^(\d+)\.(\d+)/.exec(version)
  if (match === null)
    throw new TypeError(`engine version ${JSON.stringify(version)}: expected one like 7.1.1`)
  const number = Number(match[1]) * 100 + Number(match[2])
  return {
    version,
    number,
    quoting: number < 700 ? 'loose' : number < 705 ? 'neighbours' : 'touching',
    isUnknownPrefixed: number < 705,
    cliLimit: number === 600 || number >= 705 ? '64k' : '48k',
    hasOldLists: number < 602,
  }
}
