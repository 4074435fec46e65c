/**
 * The router knows two methods, one for calls without a body and one for all others; our dispatch decides which methods a path
 * allows (405). One router entry per path and method took a fifth of the start-up time.
 */
import type { IncomingMessage } from 'node:http'

export const routedMethods = ['GET', 'POST'] as const

const sent = new WeakMap<IncomingMessage, string>()

/** Called before the router; by then Node already knows that the answer of a HEAD has no body. */
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

/** The method as sent. */
export function methodOf(request: IncomingMessage): string {
  return sent.get(request) ?? request.method ?? ''
}
