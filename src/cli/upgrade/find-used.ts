/** Finds parameters of a cache that differ from their defaults. Pure. */
import { isFields, type Fields } from '../api-shapes.js'

/** A parameter whose value is not its default. */
interface UsedParameter {
  readonly name: string
  readonly value: string
}

/** `parameters`: as returned by the API, by name. Parameters that the cache's build lacks have neither value nor default. */
export function findUsed(parameters: Fields): readonly UsedParameter[] {
  return Object.entries(parameters).flatMap(([name, parameter]) => {
    if (!isFields(parameter)) return []
    const value = String(parameter['value'])
    return value === '' || value === parameter['default'] ? [] : [{ name, value }]
  })
}
