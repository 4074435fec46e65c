/**
 * The JSON schema of the documents that `cachefleet apply` reads, made from the bodies of the routes that make the objects:
 * references are names there, and a few keys are of the documents alone. Served as `/docs/apply.json`.
 */
import { Type, type TSchema } from 'typebox'
import type { Route } from '../http/route.js'
import { orNull } from '../api/references.js'

const closed = { additionalProperties: false }

const nameReference = Type.Union(
  [Type.String(), Type.Object({ id: Type.Optional(Type.Integer()), name: Type.String() }, closed)],
  { description: 'The name of an object of the folder or of the coordinator' },
)
const domainReference = Type.Union([
  Type.String(),
  Type.Object({ id: Type.Optional(Type.Integer()), fqdn: Type.String() }, closed),
])
const mainReference = Type.Union([
  Type.String(),
  Type.Object(
    {
      id: Type.Optional(Type.Integer()),
      name: Type.String(),
      version: Type.Optional(Type.Integer({ minimum: 1 })),
    },
    closed,
  ),
])

const ignored = { readOnly: true, description: 'ignored' }

interface DocumentKind {
  /** Of the route that makes such an object. */
  readonly operationId: string
  /** What documents say in another way than bodies. */
  readonly properties: Readonly<Record<string, TSchema | typeof ignored>>
}

const kinds: Readonly<Record<string, DocumentKind>> = {
  tag: { operationId: 'createTag', properties: {} },
  file: {
    operationId: 'createFile',
    properties: {
      source: Type.String({ description: 'The text itself, or @FILE: a path inside the folder' }),
    },
  },
  domain: { operationId: 'createDomain', properties: {} },
  deployment: {
    operationId: 'createDeployment',
    properties: { tags: Type.Array(nameReference, { minItems: 1 }) },
  },
  vclgroup: {
    operationId: 'createVclGroup',
    properties: {
      mainVCL: mainReference,
      includes: orNull(Type.Array(nameReference)),
      domains: orNull(Type.Array(domainReference)),
      deployments: orNull(Type.Array(nameReference)),
      tests: orNull(Type.Array(nameReference)),
      rollout: ignored,
      deployed: orNull(
        Type.Boolean({ description: 'true deploys, false undeploys, null leaves it as it is' }),
      ),
    },
  },
}

const setSchema = Type.Object(
  { kind: Type.Literal('set'), name: Type.String() },
  { ...closed, description: 'Whose the objects of this folder are; at most one' },
)

const filesSchema = Type.Object(
  {
    kind: Type.Literal('files'),
    folder: Type.String({ description: 'A folder of VCL, inside the folder of the documents' }),
    match: Type.Optional(
      Type.String({ description: 'Which files of it, with * and ?; *.vcl when left out' }),
    ),
  },
  { ...closed, description: 'Each file of a folder as a file of its own name' },
)

/** `routes`: of the controller API. */
export function describeDocuments(routes: readonly Route[]): object {
  const definitions = Object.entries(kinds).flatMap(([kind, definition]) => {
    const route = routes.find(({ operationId }) => operationId === definition.operationId)
    return route ? [[kind, describeKind(kind, definition, route)] as const] : []
  })
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A document of cachefleet apply',
    oneOf: ['set', 'files', ...definitions.map(([kind]) => kind)].map((kind) => ({
      $ref: `#/$defs/${kind}`,
    })),
    $defs: { set: setSchema, files: filesSchema, ...Object.fromEntries(definitions) },
  }
}

interface ObjectSchema {
  readonly properties?: object
  readonly required?: readonly string[]
}

function describeKind(kind: string, { properties }: DocumentKind, route: Route): object {
  const { body, ignoredKeys = [], summary } = route
  const { properties: known = {}, required = [] } = (body ?? {}) as ObjectSchema // bodies are objects
  const readOnly = ignoredKeys.map((key): [string, object] => [key, ignored])
  return {
    type: 'object',
    description: summary,
    properties: {
      kind: { const: kind },
      ...Object.fromEntries(readOnly),
      ...known,
      ...properties,
      managedBy: { readOnly: true, description: 'ignored; the set decides' },
      organization: { description: 'That of the login, or left out' },
    },
    required: ['kind', ...required],
    ...closed,
  }
}
