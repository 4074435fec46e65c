/** Which answered calls stand in the api log, and as what: the same for both APIs (docs/behaviour.md, API log). */
import { readObjectId } from '../resources/object-id.js'
import type { AnsweredCall } from './http/api.js'
import { readBasic } from './http/credentials.js'
import type { Answer, Route } from './http/route.js'
import type { ApiLog, RecordedCall } from './api-log/api-log.js'

/** Every call that is not a GET, and every failed login; `loginByGet`: the operation of a login that is one. */
export function recordCalls(apiLog: ApiLog, loginByGet?: string): (call: AnsweredCall) => void {
  return (call) => {
    const { method, route, status } = call
    const isRead = method === 'GET' || method === 'HEAD'
    const isLogin = loginByGet !== undefined && route?.operationId === loginByGet
    if (!isRead || (isLogin && status >= 400)) apiLog.record(toRecord(call))
  }
}

function toRecord(call: AnsweredCall): RecordedCall {
  const { context, actor, route, method, path, status, answer, note } = call
  return {
    organization: actor ? actor.organizationId : (note.organization ?? null),
    traceId: context.traceId,
    account: nameOf(call),
    method,
    path,
    status,
    keyType: keyTypeOf(route),
    keyId: call.objectId ?? readNumber(answer?.body, 'id') ?? readHexId(answer?.body),
    msg: readRefusal(answer) ?? note.warning ?? describeMutation(route),
    isWarning: note.warning !== undefined,
    // Somebody who is not who they say may have been about to do more.
    asksOnly: route?.asksOnly === true && status !== 401,
  }
}

/** Of a login: who tried. */
function nameOf({ actor, note, caller }: AnsweredCall): string {
  return actor?.accountName ?? note.account ?? readBasic(caller.headers)?.user ?? ''
}

/** What a summary says behind a semicolon is for who is about to call. */
function describeMutation(route: Route | null): string {
  return route?.summary.split(';', 1)[0] ?? ''
}

/** Verbs that deploy have an errorKey of their own; what they are done to is what must be writable. */
function keyTypeOf(route: Route | null): string {
  if (route === null) return 'path'
  const { errorKey, permission } = route
  const isVerb = errorKey === 'deploy' && typeof permission === 'object' && 'type' in permission
  return isVerb ? permission.type : errorKey
}

/** What was refused and why. Of a success nothing: a command's answer has a `message` too, and bodies are never logged. */
function readRefusal(answer: Answer | null): string | undefined {
  if (answer === null || answer.status < 400) return undefined
  return readText(answer.body, 'errorMsg') ?? readText(answer.body, 'message')
}

/** What a call of the console made. */
function readHexId(body: unknown): number | null {
  const id = readText(body, 'id')
  return (id === undefined ? undefined : readObjectId(id)?.number) ?? null
}

function readNumber(body: unknown, key: string): number | null {
  const value: unknown = isRecord(body) ? body[key] : undefined
  return typeof value === 'number' ? value : null
}

function readText(body: unknown, key: string): string | undefined {
  const value: unknown = isRecord(body) ? body[key] : undefined
  return typeof value === 'string' ? value : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
