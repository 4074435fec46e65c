/** Sends calls to the things server and reads its answers. */
import { callHttp, type CallAnswer, type CallOptions } from '../../support/http-call.js'
import type { ThingsServer } from './things.js'

export interface Sending extends Omit<CallOptions, 'body' | 'text'> {
  readonly body?: string | Buffer
}

export type Send = (method: string, path: string, sending?: Sending) => Promise<CallAnswer>

/** Calls as `boss`, with a JSON type where there is a body, unless `sending` overrides them. */
export function sendTo(server: () => ThingsServer): Send {
  return (method, path, { body, ...sending } = {}) =>
    callHttp(method, server().base + path, {
      token: 'boss',
      ...sending,
      ...(body === undefined ? {} : { text: Buffer.from(body) }),
    })
}

/** `404 tag`: the status and key of a complete error body. */
export function errorOf({ status, headers, body }: CallAnswer): string {
  const { traceId, errorKey, errorMsg } = body
  if (traceId !== headers.get('x-trace-id')) return 'the trace id is not that of the header'
  if (typeof errorMsg !== 'string' || errorMsg === '') return 'there is no errorMsg'
  return `${status} ${String(errorKey)}`
}
