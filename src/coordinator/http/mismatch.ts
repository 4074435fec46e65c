/** Checks a value against a schema and says in one line which key is wrong and what would be right. */
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

export interface Mismatch {
  /** `/tags/0/id`; empty for the value itself. */
  readonly instancePath: string
  readonly keyword: string
  readonly message: string
  readonly params: object
}

/** Compiled once, when the first value comes: all at start would double the start. The function answers undefined when the value fits. */
export function prepareCheck(
  schema: TSchema | undefined,
): (value: unknown) => readonly Mismatch[] | undefined {
  if (schema === undefined) return () => undefined
  let validator: Validator | undefined
  return (value) => {
    validator ??= Compile(schema)
    return validator.Check(value) ? undefined : validator.Errors(value)
  }
}

/**
 * The message of the innermost mismatch: of a union (`anyOf`) that is the variant which came closest; variants of
 * equal depth are all told.
 */
export function describeMismatch(mismatches: readonly Mismatch[]): string {
  const said = mismatches.filter(({ keyword }) => keyword !== 'anyOf' && keyword !== 'not')
  const depth = Math.max(0, ...said.map(depthOf))
  const deepest = said.filter((mismatch) => depthOf(mismatch) === depth)
  const [first] = deepest
  if (first === undefined) return 'the value does not fit'
  const texts = deepest
    .filter(({ instancePath }) => instancePath === first.instancePath)
    .map(describeOne)
  return `${nameOf(first)} ${[...new Set(texts)].join(', or ')}`
}

function depthOf({ instancePath, keyword }: Mismatch): number {
  return instancePath.split('/').length + (keyword === 'required' ? 1 : 0)
}

/** `tags[0].id`, as a person writes it. */
function nameOf({ instancePath, keyword, params }: Mismatch): string {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keyword === 'required') path.push(missingKeys(params).join(', '))
  const name = path.reduce((text, part) => {
    if (/^\d+$/.test(part)) return `${text}[${part}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
  return name === '' ? 'the body' : name
}

function describeOne({ keyword, message, params }: Mismatch): string {
  if (keyword === 'required') return 'is missing; it is required'
  if (keyword === 'const' && 'allowedValue' in params)
    return `must be ${JSON.stringify(params.allowedValue)}`
  if (keyword === 'enum' && 'allowedValues' in params && Array.isArray(params.allowedValues))
    return `must be one of ${params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`
  return message.slice(0, 300)
}

function missingKeys(params: object): readonly string[] {
  if (!('requiredProperties' in params) || !Array.isArray(params.requiredProperties)) return []
  return params.requiredProperties.filter((key) => typeof key === 'string')
}
