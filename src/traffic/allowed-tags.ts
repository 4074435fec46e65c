/** Tags of the cache's log that say nothing of other sites on the same cache (docs/behaviour.md, Live log). */

/** What organizations may ask for, and what details consist of. */
export const allowedTags = [
  ...['ReqMethod', 'ReqURL', 'ReqProtocol', 'ReqHeader', 'RespStatus', 'RespReason', 'RespHeader'],
  ...['BerespStatus', 'BerespHeader', 'Timestamp', 'Hit', 'HitMiss', 'HitPass', 'VCL_call'],
  ...['VCL_return', 'ReqAcct', 'BereqAcct', 'Error', 'FetchError', 'TTL', 'Length'],
] as const
