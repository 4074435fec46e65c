/** Responses of the agent's own listeners, each of which has one path. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export const safeHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** True for a GET of the path. Any other request is answered here. */
export function isGetOf(path: string, request: IncomingMessage, response: ServerResponse): boolean {
  const plain = { ...safeHeaders, 'content-type': 'text/plain; charset=utf-8' }
  request.resume()
  if (request.url?.split('?')[0] !== path) {
    response.writeHead(404, plain).end(`here is nothing but ${path}\n`)
    return false
  }
  if (request.method === 'GET' || request.method === 'HEAD') return true
  response.writeHead(405, { ...plain, allow: 'GET, HEAD' }).end('right would be GET\n')
  return false
}
