/** Request body of a call in the OpenAPI document: its media types and accepted keys. */
import type { TSchema } from 'typebox'
import { mediaTypes } from './body.js'
import type { BodyType, Route } from './route.js'

export function describeBody(route: Route, schema: TSchema): object {
  const { bodyTypes = ['json'], bodyOptional } = route
  return {
    required: bodyOptional !== true,
    content: Object.fromEntries(
      bodyTypes.map((type) => [mediaTypes[type], { schema: schemaOf(type, route, schema) }]),
    ),
  }
}

/** Read-only keys are documented because they are accepted: the body of a GET may be sent back. */
function schemaOf(type: BodyType, route: Route, schema: TSchema): object {
  const { ignoredKeys = [], ignoresUnknownKeys = false, textKey = 'text' } = route
  const properties: unknown = Reflect.get(schema, 'properties')
  const known: object = typeof properties === 'object' && properties !== null ? properties : {}
  if (type === 'text') return Reflect.get(known, textKey) as object // a text has one key
  const readOnly = Object.fromEntries(
    ignoredKeys
      .filter((key) => !(key in known))
      .map((key) => [key, { readOnly: true, description: 'accepted and ignored' }]),
  )
  const whole = { ...schema, properties: { ...known, ...readOnly } }
  return { ...whole, additionalProperties: ignoresUnknownKeys }
}
