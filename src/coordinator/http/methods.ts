/**
 * The router has an entry of each path for each of its methods, so that 405 is ours to say. Entries for all that Node's parser knows
 * would cost 14 MB and a second of start; the rare ones, which no call has, are routed as OPTIONS, which none has either.
 */
import type { IncomingMessage } from 'node:http'

export const routedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const

const routed: ReadonlySet<string | undefined> = new Set(routedMethods)
const rare = new WeakMap<IncomingMessage, string>()

/** Before the router sees it. */
export function foldRareMethod(request: IncomingMessage): void {
  if (routed.has(request.method)) return
  rare.set(request, request.method ?? '')
  request.method = 'OPTIONS'
}

/** As it was sent. */
export function methodOf(request: IncomingMessage): string {
  return (request.method === 'OPTIONS' ? rare.get(request) : undefined) ?? request.method ?? ''
}
