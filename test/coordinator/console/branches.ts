/** Helpers that create branches and compiling caches for tests of the console. */
import type { Test } from 'tap'
import { instructionSubject } from '../../../src/coordinator/bus/subjects.js'
import { parseObjectId } from '../../../src/resources/object-id.js'
import { findSource } from '../../../src/coordinator/fleet/sources.js'
import type { CallAnswer } from '../../support/http-call.js'
import type { Json } from '../controller/client.js'
import type { ConsoleClient } from './console-client.js'
import type { Fixture, MadeGroup } from './group-fixture.js'

export const vcl = (mark: string) => `vcl 4.1;\nbackend default none;\n# ${mark}\n`

export interface Branches {
  /** Returns the branch. */
  readonly make: (name: string, content?: string) => Promise<Json>
  /** Pushes a text onto a commit, or unconditionally without `onto`. */
  readonly push: (branchId: unknown, text: string, onto?: unknown) => Promise<CallAnswer>
  readonly head: (branchId: unknown) => Promise<Json>
}

export function branchesOf({ call }: Pick<ConsoleClient, 'call'>): Branches {
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

/** Creates a group with this branch. */
export async function makeGroupWith(
  fixture: Fixture,
  name: string,
  branchId: unknown,
): Promise<MadeGroup> {
  const group = await fixture.makeGroup(name)
  await fixture.expect(204, 'PUT', `${group.path}/vcl/${String(branchId)}`)
  return group
}

/** Adds a cache that rejects texts containing `broken`. Returns the texts that the cache is asked to compile. */
export async function addCompilingCache(
  t: Test,
  fixture: Fixture,
  { group, name, version }: CompilingCache,
): Promise<readonly string[]> {
  const { service } = fixture
  const engine = { host: '10.0.0.1', port: 6081, version, workingDirectory: null }
  const cacheId = await fixture.makeCache(name, { description: { engine } })
  await fixture.expect(204, 'PUT', `${group.path}/cache/${cacheId}`)
  const compiled: string[] = []
  const subject = instructionSubject(parseObjectId('cache', cacheId) ?? 0)
  const subscription = service.bus.respond(subject, async ({ question }) => {
    const sha = question.kind === 'compile' ? question.sha : ''
    const text = (await findSource(service.store.queries, sha))?.text ?? ''
    compiled.push(text)
    const value = { error: text.includes('broken') ? refusal : null }
    return { result: 'done', value, error: null } as const
  })
  t.teardown(() => {
    subscription.close()
  })
  return compiled
}

interface CompilingCache {
  readonly group: MadeGroup
  readonly name: string
  /** Version of the engine. */
  readonly version: string
}

/** A compile error as varnishd prints it. */
const refusal = `Message from VCC-compiler:
Expected ';' got '}'
(program line 393), at
('<vcl.inline>' Line 3 Pos 3)
# broken
--######

Running VCC-compiler failed, exited with 2
VCL compilation failed`
