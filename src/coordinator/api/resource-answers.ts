/** Converts a noun's record into the API's response, in the order of its fields. */
import type { Answer, Fields } from '../../resources/resource.js'
import type { StoredRecord } from '../store/resource-rows.js'
import { toIso, toSeconds } from './times.js'

type ComputedKey<F extends Fields> = {
  [K in keyof F]: F[K] extends { computed: true } ? K : never
}[keyof F]

/** The values of computed fields, which the noun's own code provides. */
export type Computed<F extends Fields> = Pick<Answer<F>, ComputedKey<F> & keyof Answer<F>>

/** Processes the fields once, not for each of the thousands of rows of a list. */
export function answerMaker<F extends Fields>(
  fields: F,
): (record: StoredRecord<F>, computed: Computed<F>) => Answer<F> {
  const parts = Object.entries(fields).map(([name, { kind, column = name, computed }]) => ({
    name,
    column,
    print: kind === 'time' ? toIso : kind === 'moment' ? toSeconds : null,
    isComputed: computed === true,
  }))
  const always = parts.filter(({ name }) => fields[name]?.optional !== true)
  const blank = Object.fromEntries(always.map(({ name }): [string, unknown] => [name, null]))
  return (record, computed) => {
    // Copying an object that has the keys takes half the time of adding them one by one.
    const answer = { ...blank }
    for (const { name, column, print, isComputed } of parts) {
      const value: unknown = isComputed ? Reflect.get(computed, name) : Reflect.get(record, column)
      if (value !== undefined)
        answer[name] = print && typeof value === 'number' && !isComputed ? print(value) : value
    }
    return answer as Answer<F> // each value comes from its own field
  }
}
