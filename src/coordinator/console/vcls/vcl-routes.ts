/** `/v1/vcl`: VCL branches. Pushes and commits are in commit-routes.ts. */
import { Type } from 'typebox'
import type { Route } from '../../http/route.js'
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
import { nounRoutes, type ConsoleNoun } from '../noun-routes.js'
import { branchSchema, toBranchView, wholeBranchSchema } from './vcl-views.js'

const nameSchema = Type.String({ minLength: 1 })
const descriptionSchema = Type.Optional(Type.String({ maxLength: 4096 }))

export function branchNoun(service: StateService): ConsoleNoun<BranchRecord> {
  return {
    kind: 'vcl',
    names: { one: 'Branch', many: 'Branches' },
    schema: branchSchema,
    view: toBranchView,
    whole: {
      schema: wholeBranchSchema,
      view: async (branch) => {
        const { content } = await readHead(service, branch)
        return { ...toBranchView(branch), content }
      },
    },
    find: (actor, id) => findBranch(service, actor, id),
  }
}

export function vclRoutes(service: StateService): readonly Route[] {
  const branches = branchNoun(service)
  return nounRoutes(branches, {
    list: {
      summary: 'All VCL branches that you may see, without their contents',
      read: (actor) => listBranches(service, actor),
    },
    create: {
      summary: 'Creates a branch with its first commit; nothing is compiled while no group has it',
      access: 'write',
      body: Type.Object({
        name: nameSchema,
        description: descriptionSchema,
        content: Type.String({ description: 'VCL text' }),
      }),
      run: ({ actor, body }) => createBranch(service, actor, body),
    },
    get: { summary: 'One branch with the content of its head' },
    update: {
      summary: 'Changes name or description; a content is changed by a push',
      access: 'write',
      body: Type.Object({ name: Type.Optional(nameSchema), description: descriptionSchema }),
      run: ({ actor, object, body }) => updateBranch(service, actor, object, body),
    },
    delete: {
      summary: 'Deletes a branch with its commits; 409 while a group has it',
      access: 'write',
      run: ({ actor, object }) => deleteBranch(service, actor, object),
    },
  })
}
