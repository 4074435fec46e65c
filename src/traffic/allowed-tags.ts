/** Log tags that reveal nothing about other sites on the same cache (docs/behaviour.md, Live log). */

/** Organizations may query these, and detailed records contain only these. */
export const allowedTags = [
  ...['ReqMethod', 'ReqURL', 'ReqProtocol', 'ReqHeader', 'RespStatus', 'RespReason', 'RespHeader'],
  ...['BerespStatus', 'BerespHeader', 'Timestamp', 'Hit', 'HitMiss', 'HitPass', 'VCL_call'],
  ...['VCL_return', 'ReqAcct', 'BereqAcct', 'Error', 'FetchError', 'TTL', 'Length'],
] as const
