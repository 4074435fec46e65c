/**
 * Calls on objects that users edit. If-Match is compared inside the transaction that changes the object, and a PUT without
 * If-Match is merged into the current object, so that no edit silently undoes another one.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { rememberOf } from '../../runtime/bounded-cache.js'
import { digestEditable, isUnchanged, makeTag, readIfMatch } from './etag.js'
import type { Answer, Edit, Route } from './route.js'

interface EditableCall {
  readonly route: Route
  readonly edit: Edit
  readonly actor: Actor
  /** Null if the call creates the object. */
  readonly id: number | null
  readonly headers: IncomingHttpHeaders
  /** Returns the current object; throws 'not-found'. */
  readonly find: () => Promise<unknown>
  readonly handle: (object: unknown, guarded: unknown) => Promise<Answer>
}

/** An attempt fails only because another editor's attempt succeeded. */
const maxAttempts = 50

class EditedMeanwhile extends Error {}

/** `found` is the result of `find` before the body was read. */
export async function answerEditable(call: EditableCall, found: unknown): Promise<Answer> {
  const { route, edit, id, headers, handle } = call
  if (id !== null && route.method !== 'GET')
    return tagAnswer(edit, await editObject(call, id, found))
  const ifNoneMatch = route.method === 'GET' ? headers['if-none-match'] : undefined
  return tagAnswer(edit, await handle(found, edit.unguarded), ifNoneMatch)
}

async function editObject(call: EditableCall, id: number, found: unknown): Promise<Answer> {
  const { route, edit, actor, headers, handle } = call
  const wanted = readIfMatch(headers['if-match'], route.errorKey)
  if (wanted === null && route.method === 'DELETE') return handle(found, edit.unguarded)
  let object = found
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const seen = digestEditable(edit.view(object), edit.keys)
    if (wanted?.has(seen) === false) throw changed(route)
    const requireSame = (now: unknown): void => {
      if (now === undefined || digestEditable(edit.view(now), edit.keys) !== seen)
        throw new EditedMeanwhile()
    }
    try {
      return await handle(object, edit.guard(actor, id, requireSame))
    } catch (error) {
      if (!(error instanceof EditedMeanwhile)) throw error
    }
    object = await call.find()
  }
  throw new FleetError(
    'conflict',
    route.errorKey,
    'others change this object all the time; try again',
  )
}

/** Adds the entity tag to an answer; 304 if the caller of a GET has this version already. */
function tagAnswer(edit: Edit, answer: Answer, ifNoneMatch?: string): Answer {
  const { status, body } = answer
  if (typeof body !== 'object' || body === null) return answer
  const { text, etag } = writerOf(edit)(body)
  const headers = { ...answer.headers, etag }
  return isUnchanged(ifNoneMatch, etag) ? { status: 304, headers } : { status, body, text, headers }
}

/** An answer that is given again is written once. */
const writerOf = rememberOf(({ keys, longKey }: Edit) =>
  rememberOf((body: object) => {
    const text = JSON.stringify(body)
    const tagged = longKey === undefined ? text : JSON.stringify({ ...body, [longKey]: undefined })
    return { text, etag: makeTag(digestEditable(body, keys), tagged) }
  }),
)

function changed({ errorKey }: Route): FleetError {
  return new FleetError(
    'changed',
    errorKey,
    'somebody changed it since the ETag in If-Match was answered; read it again, then change that',
  )
}
