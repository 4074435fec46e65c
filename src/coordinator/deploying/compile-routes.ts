/** `/files/compile` checks whether files compile before they are in a group or even stored. */
import { Type, type Static } from 'typebox'
import { FleetError } from '../../errors.js'
import { route, type Route } from '../http/route.js'
import { compileFiles, type LooseFile } from './compile.js'
import type { StateService } from '../service.js'
import {
  idSchema,
  initSchema,
  nameSchema,
  orNull,
  maxReferences,
  referencesTo,
  referenceSchema,
  requireAccess,
} from '../api/references.js'
import { agentSchema } from '../agents/agent-view.js'
import { wholeFileSchema } from '../files/file-view.js'

const errorKey = 'file'
const closed = { additionalProperties: false }

const fileFields = Object.keys(wholeFileSchema.properties)
const looseFileSchema = Type.Object(
  {
    // The other fields of a GET response are accepted next to the id and ignored.
    ...Object.fromEntries(fileFields.map((field) => [field, Type.Optional(Type.Unknown())])),
    id: Type.Optional(idSchema),
    version: Type.Optional(
      orNull(Type.Integer({ minimum: 1, description: 'The current one unless given' })),
    ),
    name: Type.Optional(nameSchema),
    source: Type.Optional(Type.String({ description: 'VCL text' })),
  },
  {
    ...closed,
    description: 'A file of yours by its id, or the name and source of a text that is kept nowhere',
  },
)

export function fileCompileRoutes(service: StateService): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/files/compile',
      operationId: 'compileFiles',
      summary:
        'Compiles files, stored or not, on one agent or on those named; nothing is kept or changed',
      errorKey,
      asksOnly: true,
      permission: { type: 'file', access: 'write' },
      query: Type.Object({ init: Type.Optional(initSchema) }, closed),
      body: Type.Object(
        {
          mainVCL: looseFileSchema,
          includes: Type.Optional(orNull(Type.Array(looseFileSchema, { maxItems: maxReferences }))),
          root: Type.Optional(
            orNull(
              Type.Boolean({
                default: true,
                description: 'false: as the VCL of a group with domains',
              }),
            ),
          ),
          agents: Type.Optional(
            orNull(referencesTo(Object.keys(agentSchema.properties), { minItems: 1 })),
          ),
        },
        closed,
      ),
      answers: { 200: Type.Object({ agents: Type.Array(referenceSchema) }, closed) },
      handle: async ({ context, actor, body, query }) => {
        requireAccess(actor, 'agent', 'read', errorKey)
        const agents = await compileFiles(service, context, actor, {
          mainVCL: toLooseFile('mainVCL', body.mainVCL),
          includes: (body.includes ?? []).map((file) => toLooseFile('includes', file)),
          root: body.root ?? true,
          agents: body.agents ?? undefined,
          init: query.init ?? false,
        })
        return { status: 200, body: { agents: agents.map(({ id, name }) => ({ id, name })) } }
      },
    }),
  ]
}

function toLooseFile(key: string, file: Static<typeof looseFileSchema>): LooseFile {
  const { id, version, name, source } = file
  if (id !== undefined) return { id, version }
  if (name !== undefined && source !== undefined) return { name, source }
  throw new FleetError(
    'invalid',
    errorKey,
    `${key}: it must be the id of a file, or the name and source of a text`,
  )
}
