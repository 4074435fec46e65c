/** Decides which answered calls are recorded in the API log, and how; for both APIs (docs/behaviour.md, API log). */
import { readObjectId } from '../resources/object-id.js'
import type { AnsweredCall } from './http/api.js'
import { readBasic } from './http/credentials.js'
import type { Answer, Route } from './http/route.js'
import type { ApiLog, RecordedCall } from './api-log/api-log.js'

/** Records every call that is not a GET, and every failed login; `loginByGet`: the operation of a login by GET. */
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
    // A caller that failed to authenticate may have intended a change.
    asksOnly: route?.asksOnly === true && status !== 401,
  }
}

/** For a login: the account that was tried. */
function nameOf({ actor, note, caller }: AnsweredCall): string {
  return actor?.accountName ?? note.account ?? readBasic(caller.headers)?.user ?? ''
}

/** The part of a summary after a semicolon is advice for callers and is dropped. */
function describeMutation(route: Route | null): string {
  return route?.summary.split(';', 1)[0] ?? ''
}

/** Deploy verbs have their own errorKey; their key type is the object type of the permission. */
function keyTypeOf(route: Route | null): string {
  if (route === null) return 'path'
  const { errorKey, permission } = route
  const isVerb = errorKey === 'deploy' && typeof permission === 'object' && 'type' in permission
  return isVerb ? permission.type : errorKey
}

/** The error message. Nothing for a success: a command's response also has a `message`, and bodies are never logged. */
function readRefusal(answer: Answer | null): string | undefined {
  if (answer === null || answer.status < 400) return undefined
  return readText(answer.body, 'errorMsg') ?? readText(answer.body, 'message')
}

/** The id of an object created by a console call. */
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
