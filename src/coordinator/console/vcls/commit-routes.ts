/** The commits of a VCL branch: its head and history, and pushes (docs/behaviour.md, Console VCL). */
import { Type } from 'typebox'
import { parseCommitId, type Commit } from '../../../resources/object-id.js'
import { FleetError } from '../../../errors.js'
import { route, type Call, type Route } from '../../http/route.js'
import { pushCommit, type PushRequest } from './vcl-push.js'
import { listCommits, readCommit, readHead, type BranchRecord } from './vcls.js'
import type { StateService } from '../../service.js'
import { maxItems, readPage } from '../pages.js'
import {
  commitSchema,
  pushedSchema,
  toCommitView,
  toWholeCommitView,
  wholeCommitSchema,
} from './vcl-views.js'
import { aboutOne } from '../noun-routes.js'
import { branchNoun } from './vcl-routes.js'

const errorKey = 'vcl'
const content = Type.String({ description: 'VCL text' })

export function commitRoutes(service: StateService): readonly Route[] {
  return [...readRoutes(service), ...pushRoutes(service)]
}

function readRoutes(service: StateService): readonly Route[] {
  const reading = { ...aboutOne(branchNoun(service), 'read'), method: 'GET' } as const
  const listSchema = Type.Object({ list: Type.Array(commitSchema) })
  return [
    route({
      ...reading,
      path: '/v1/vcl/{id}/head',
      operationId: 'getHead',
      summary: 'The head: the commit that the next deploy of a group with this branch brings',
      answers: { 200: wholeCommitSchema },
      handle: async ({ object }) => ({
        status: 200,
        body: toWholeCommitView(await readHead(service, object)),
      }),
    }),
    route({
      ...reading,
      path: '/v1/vcl/{id}/commit/{commitId}',
      operationId: 'getCommit',
      summary: 'One commit with its content',
      answers: { 200: wholeCommitSchema },
      handle: async ({ object, params }) => ({
        status: 200,
        body: toWholeCommitView(await readCommit(service, object, readCommitId(params))),
      }),
    }),
    route({
      ...reading,
      path: '/v1/vcl/{id}/history',
      operationId: 'listCommits',
      summary: `The ${maxItems} newest commits, newest first, without their contents`,
      answers: { 200: listSchema },
      handle: async ({ object }) => {
        const commits = await listCommits(service, object, { page: 1, items: maxItems })
        return { status: 200, body: { list: commits.map(toCommitView) } }
      },
    }),
    route({
      ...reading,
      path: '/v1/vcl/{id}/history/{page}/{items}',
      operationId: 'listCommitsByPage',
      summary: 'A page of all commits, newest first',
      answers: { 200: listSchema },
      handle: async ({ object, params }) => {
        const commits = await listCommits(service, object, readPage(params, errorKey))
        return { status: 200, body: { list: commits.map(toCommitView) } }
      },
    }),
  ]
}

function pushRoutes(service: StateService): readonly Route[] {
  const push = async (
    { context, actor, object: branch }: Call<unknown, unknown, BranchRecord>,
    request: Omit<PushRequest, 'branch'>,
  ) => {
    const { head, message } = await pushCommit(service, context, actor, { branch, ...request })
    return { status: 200, body: { ...toWholeCommitView(head), message } }
  }
  const pushing = {
    ...aboutOne(branchNoun(service), 'write'),
    method: 'POST',
    bodyTypes: ['json', 'text'],
    textKey: 'content',
    ignoresUnknownKeys: true,
    answers: { 200: pushedSchema },
  } as const
  return [
    route({
      ...pushing,
      path: '/v1/vcl/{id}/push',
      operationId: 'push',
      summary: 'Commits a text as the head of the branch, whatever was its head',
      body: Type.Object({ content }),
      handle: (call) => push(call, { onto: null, content: call.body.content }),
    }),
    route({
      ...pushing,
      path: '/v1/vcl/{id}/push/{commitId}',
      operationId: 'pushOnto',
      summary:
        'Commits a text as the head if that commit still is it, else 409; without a body that commit becomes the head',
      bodyOptional: true,
      body: Type.Object({ content }),
      handle: (call) =>
        push(call, { onto: readCommitId(call.params), content: readContent(call.body) }),
    }),
  ]
}

/** Throws 'not-found' for the id of no commit. */
function readCommitId({ commitId = '' }: Readonly<Record<string, string>>): Commit {
  const commit = parseCommitId(commitId)
  if (commit) return commit
  throw new FleetError('not-found', errorKey, `${commitId.slice(0, 100)} was not found`)
}

/** The body may be left out. */
function readContent(body: { readonly content: string } | undefined): string | undefined {
  return body?.content
}
