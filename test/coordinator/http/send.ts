/** Sends calls to the things and reads their answers. */
import type { ThingsServer } from './things.js'

export interface Sent {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Record<string, unknown>
}

export interface Sending {
  readonly token?: string | null
  readonly type?: string | null
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

export type Send = (method: string, path: string, sending?: Sending) => Promise<Sent>

/** As `boss`, with a JSON type where there is a body, unless told otherwise. */
export function sendTo(server: () => ThingsServer): Send {
  return async (method, path, sending = {}) => {
    const { token = 'boss', type = 'application/json', headers = {}, body } = sending
    const response = await fetch(server().base + path, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined || type === null ? {} : { 'content-type': type }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parse(text) }
  }
}

/** `404 tag`: status and key of an error body that is whole. */
export function errorOf({ status, headers, body }: Sent): string {
  const { traceId, errorKey, errorMsg } = body
  if (traceId !== headers.get('x-trace-id')) return 'the trace id is not that of the header'
  if (typeof errorMsg !== 'string' || errorMsg === '') return 'there is no errorMsg'
  return `${status} ${String(errorKey)}`
}

function parse(text: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(text) as object) } // spread of anything is an object
  } catch {
    return {}
  }
}
