/**
 * The router knows two methods, the one of calls without a body and that of the others: which methods a path takes is ours to
 * say (405). An entry of each path for each method was a fifth of the start.
 */
import type { IncomingMessage } from 'node:http'

export const routedMethods = ['GET', 'POST'] as const

const sent = new WeakMap<IncomingMessage, string>()

/** Before the router sees it. That the answer of a HEAD has no body is settled by then. */
export function foldMethod(request: IncomingMessage): void {
  const { method = '' } = request
  const folded = toRouted(method)
  if (folded === method) return
  sent.set(request, method)
  request.method = folded
}

export function toRouted(method: string): (typeof routedMethods)[number] {
  return method === 'GET' || method === 'HEAD' ? 'GET' : 'POST'
}

/** As it was sent. */
export function methodOf(request: IncomingMessage): string {
  return sent.get(request) ?? request.method ?? ''
}
