/** `/v1/vcl`: VCL branches. Pushes and commits are in commit-routes.ts. */
import { Type } from 'typebox'
import { parseObjectId } from '../../../resources/object-id.js'
import type { Actor } from '../../../resources/permission.js'
import { route, type Route } from '../../http/route.js'
import {
  createBranch,
  deleteBranch,
  findBranch,
  listBranches,
  readHead,
  updateBranch,
  type BranchRecord,
} from './vcls.js'
import type { StateService } from '../../service.js'
import { listRoutes } from '../list-routes.js'
import { branchSchema, toBranchView, wholeBranchSchema } from './vcl-views.js'

export const errorKey = 'vcl'
export const read = { console: 'read' } as const
export const write = { console: 'write' } as const
const nameSchema = Type.String({ minLength: 1 })
const descriptionSchema = Type.Optional(Type.String({ maxLength: 4096 }))

/** How the routes of one branch find it. */
export function findingBranch(service: StateService) {
  return {
    readId: (text: string) => parseObjectId('vcl', text),
    find: (_: unknown, actor: Actor, id: number) => findBranch(service, actor, id),
  }
}

export function vclRoutes(service: StateService): readonly Route[] {
  const ofBranch = findingBranch(service)
  const answerWhole = async (status: number, branch: BranchRecord) => {
    const { content } = await readHead(service, branch)
    return { status, body: { ...toBranchView(branch), content } }
  }
  return [
    ...listRoutes({
      path: '/v1/vcl',
      operationId: 'listBranches',
      summary: 'All VCL branches that you may see, without their contents',
      errorKey,
      schema: branchSchema,
      read: (actor) => listBranches(service, actor),
      view: toBranchView,
    }),
    route({
      method: 'POST',
      path: '/v1/vcl',
      operationId: 'createBranch',
      summary: 'Makes a branch with its first commit; nothing is compiled while no group has it',
      errorKey,
      permission: write,
      ignoresUnknownKeys: true,
      body: Type.Object({
        name: nameSchema,
        description: descriptionSchema,
        content: Type.String({ description: 'VCL text' }),
      }),
      answers: { 201: wholeBranchSchema },
      handle: async ({ actor, body }) => answerWhole(201, await createBranch(service, actor, body)),
    }),
    route({
      method: 'GET',
      path: '/v1/vcl/{id}',
      operationId: 'getBranch',
      summary: 'One branch with the content of its head',
      errorKey,
      permission: read,
      ...ofBranch,
      answers: { 200: wholeBranchSchema },
      handle: ({ object }) => answerWhole(200, object),
    }),
    route({
      method: 'PATCH',
      path: '/v1/vcl/{id}',
      operationId: 'updateBranch',
      summary: 'Changes name or description; a content is changed by a push',
      errorKey,
      permission: write,
      ...ofBranch,
      ignoresUnknownKeys: true,
      body: Type.Object({ name: Type.Optional(nameSchema), description: descriptionSchema }),
      answers: { 200: wholeBranchSchema },
      handle: async ({ actor, object, body }) =>
        answerWhole(200, await updateBranch(service, actor, object, body)),
    }),
    route({
      method: 'DELETE',
      path: '/v1/vcl/{id}',
      operationId: 'deleteBranch',
      summary: 'Deletes a branch with its commits; 409 while a group has it',
      errorKey,
      permission: write,
      ...ofBranch,
      answers: { 204: null },
      handle: async ({ actor, object }) => {
        await deleteBranch(service, actor, object)
        return { status: 204 }
      },
    }),
  ]
}
