/** Which parameters of a cache are set: values in, values out. */
import { isFields, type Fields } from '../api-shapes.js'

/** Set to something else than its default. */
interface UsedParameter {
  readonly name: string
  readonly value: string
}

/** `parameters`: as the API answers them, by name. What the cache lacks by its build has neither value nor default. */
export function findUsed(parameters: Fields): readonly UsedParameter[] {
  return Object.entries(parameters).flatMap(([name, parameter]) => {
    if (!isFields(parameter)) return []
    const value = String(parameter['value'])
    return value === '' || value === parameter['default'] ? [] : [{ name, value }]
  })
}
