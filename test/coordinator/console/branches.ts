/** Branches as tests of the console make them: by its calls, with groups and caches as rows, and caches that compile. */
import type { Test } from 'tap'
import { instructionSubject } from '../../../src/bus/bus.js'
import type { InstructionRequest } from '../../../src/coordinator/state-service/agents/instruct.js'
import { toObjectId } from '../../../src/domain/object-id.js'
import { findSource } from '../../../src/store/sources.js'
import { addAgent, bearTag } from '../../store/rows.js'
import type { CallAnswer } from '../../support/start-controller.js'
import type { ConsoleClient } from './console-client.js'

export const vcl = (mark: string) => `vcl 4.1;\nbackend default none;\n# ${mark}\n`

type Answered = Record<string, unknown>

export interface Branches {
  /** Answers the branch. */
  readonly make: (name: string, content?: string) => Promise<Answered>
  /** Of a text, onto a commit or in any case. */
  readonly push: (branchId: unknown, text: string, onto?: unknown) => Promise<CallAnswer>
  readonly head: (branchId: unknown) => Promise<Answered>
}

export function branchesOf({ call }: ConsoleClient): Branches {
  return {
    make: async (name, content = vcl('first')) =>
      (await call('POST', '/v1/vcl', { body: { name, content } })).body,
    push: (branchId, text, onto) => {
      const path = ['/v1/vcl', branchId, 'push', ...(onto === undefined ? [] : [onto])].join('/')
      return call('POST', path, { text, type: 'text/plain' })
    },
    head: async (branchId) => (await call('GET', `/v1/vcl/${String(branchId)}/head`)).body,
  }
}

/** A group of the console with this branch, which a row says. */
export async function addConsoleGroup(
  { controller: { service } }: ConsoleClient,
  name: string,
  fileId: number | null,
): Promise<{ readonly id: number; readonly objectId: string; readonly tagId: number }> {
  const { queries } = service.store
  const times = { createdAt: 1, updatedAt: 1 }
  const { id } = await queries
    .insertInto('vclGroups')
    .values({
      ...{ name, root: 1, keepOnFailure: 1, mainFileId: fileId, console: 1 },
      ...{ deployed: 0, revision: 0, wishPending: 0, ...times },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await queries
    .insertInto('consoleGroups')
    .values({ groupId: id, description: '', overviewGroup: 0 })
    .execute()
  const { id: tagId } = await queries
    .insertInto('tags')
    .values({ name: `members of ${name}`, groupId: id, ...times })
    .returning('id')
    .executeTakeFirstOrThrow()
  const { id: deploymentId } = await queries
    .insertInto('deployments')
    .values({ name: `members of ${name}`, groupId: id, min: 1, max: 1_000_000, ...times })
    .returning('id')
    .executeTakeFirstOrThrow()
  await queries.insertInto('deploymentTags').values({ deploymentId, tagId }).execute()
  await queries
    .insertInto('vclGroupDeployments')
    .values({ groupId: id, deploymentId, position: 0 })
    .execute()
  return { id, objectId: toObjectId('group', id), tagId }
}

export interface CompilingCache {
  readonly id: number
  /** The texts that it was asked to compile. */
  readonly compiled: string[]
}

/** A cache in the group; whatever has `broken` in it does not compile there. */
export async function addCompilingCache(
  t: Test,
  { controller: { service } }: ConsoleClient,
  {
    tagId,
    ...agent
  }: { readonly tagId: number; readonly name: string; readonly engineVersion?: string },
): Promise<CompilingCache> {
  const { queries } = service.store
  const { name, engineVersion = '7.1.1' } = agent
  const id = await addAgent(queries, name, { engineVersion })
  await bearTag(queries, id, tagId)
  const compiled: string[] = []
  const subscription = service.bus.respond(instructionSubject(id), async (value) => {
    const { question } = value as InstructionRequest // what the coordinator asks
    const sha = question.kind === 'compile' ? question.sha : ''
    const text = (await findSource(queries, sha))?.text ?? ''
    compiled.push(text)
    return { result: 'done', value: { error: text.includes('broken') ? refusal : null } }
  })
  t.teardown(() => {
    subscription.close()
  })
  return { id, compiled }
}

/** As varnishd says it. */
const refusal = `Message from VCC-compiler:
Expected ';' got '}'
(program line 393), at
('<vcl.inline>' Line 3 Pos 3)
# broken
--######

Running VCC-compiler failed, exited with 2
VCL compilation failed`
