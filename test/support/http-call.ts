/** One HTTP call and its complete response: the basis of the clients in tests. */

export interface CallOptions {
  /** Sent as a bearer token; null: none. */
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** In place of `body`: sent unchanged. */
  readonly text?: string | Uint8Array<ArrayBuffer>
  /** Content type of the body; null: no header. */
  readonly type?: string | null
}

export interface CallAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed; empty unless it is a JSON object. */
  readonly body: Record<string, unknown>
}

/** Does not follow redirects. */
export async function callHttp(
  method: string,
  url: string,
  { token = null, headers = {}, body, text, type = 'application/json' }: CallOptions = {},
): Promise<CallAnswer> {
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(sent === undefined || type === null ? {} : { 'content-type': type }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  })
  const answer = await response.text()
  return { status: response.status, headers: response.headers, text: answer, body: parse(answer) }
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
